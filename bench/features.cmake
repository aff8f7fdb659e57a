# What can be taken away: each name is up to three folders (analysis/NAME, reports/NAME, bench/NAME), its tests and its
# page of the guide. Without its folders and its line here, the program is built without it. bench/NAME defines
# `const Feature kNameFeature` (bench/output/feature.hpp); features include the core and themselves, never each other.
set(HBENCH_FEATURES
  bandwidth
  choose
  compare
  expect
  job
  learn
  profile
  recover
  submit
  track
  validate)

# hbench_feature_sources(<out variable>): the sources that the features have in the current folder, and of their templates
# (NAME.yaml.in) sources that define the text as kTemplate_NAME.
function(hbench_feature_sources out)
  set(found)
  set(assets "")
  foreach(feature IN LISTS HBENCH_FEATURES)
    file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${feature}/*.cpp)
    list(APPEND found ${sources})
    file(GLOB templates ${feature}/*.yaml.in)
    foreach(template IN LISTS templates)
      get_filename_component(name ${template} NAME_WE)
      hbench_embed(kTemplate_${name} ${template})
    endforeach()
    if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${feature})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${feature})
    endif()
  endforeach()
  set(${out} ${found} ${assets} PARENT_SCOPE)
endfunction()

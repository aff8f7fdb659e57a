# What can be taken away: each name is up to three folders (analysis/NAME, reports/NAME, bench/NAME), its tests and its
# page of the guide. Without its folders and its line here, the program is built without it. bench/NAME defines
# `const Feature kNameFeature` (bench/output/feature.hpp); features include the core and themselves, never each other.
set(HBENCH_FEATURES
  bandwidth
  choose
  compare
  expect
  job
  profile
  submit
  track
  validate)

# hbench_feature_sources(<out variable>): the sources that the features have in the current folder.
function(hbench_feature_sources out)
  set(found)
  foreach(feature IN LISTS HBENCH_FEATURES)
    file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${feature}/*.cpp)
    list(APPEND found ${sources})
    if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${feature})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${feature})
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

#pragma once

#include <string>

namespace hbench {

/// What a label, a host or a name may hold that means something to a format in which a check is written.
inline const std::string kHostile[] = {"<script>alert(1)</script>",
                                       "a | b",
                                       "]]></testsuite>",
                                       "\"/><failure message=\"x",
                                       "x\n::error title=y::z",
                                       "::error::z",
                                       "x ##[error]z",
                                       "`id` $(id)",
                                       "# EOF",
                                       "\\\" 1\nhbench_track_seconds{case=\"y\"} 2",
                                       "'; rm -rf /; '",
                                       "@everyone closes #1",
                                       "/close",
                                       "100% of %0A, yes",
                                       "\x1b[2J\x07 bell",
                                       std::string("nul\0byte", 8),
                                       "broken \xff\xfe \xed\xa0\x80",
                                       "no characters \xEF\xBF\xBE \xEF\xBF\xBF",
                                       "turned \xe2\x80\xaeround\xe2\x80\xa8line"};

}  // namespace hbench

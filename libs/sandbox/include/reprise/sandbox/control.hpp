#pragma once

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster.hpp>

namespace reprise::sandbox {

// The remote control of a cluster: one JSON object in, one out; the transport and who may use it
// are the front's business. `command` chooses; unknown members are errors, so that a misspelt
// option is never silently ignored.
//
//   {"command":"status"}
//   {"command":"fault_add","ops":["set","0xd1"],"key":"u:*","node":0,"bucket":"b","skip":0,
//    "every":1,"probability":1.0,"limit":3,
//    "effect":{"status":"0x86","context":"text","ref":"text"} | {"delay_ms":50} | "no_answer" |
//             "close_before" | "close_after"}                               -> {"id":1}
//   {"command":"fault_list"} {"command":"fault_remove","id":1} {"command":"fault_clear"}
//   {"command":"audit","limit":100,"op":"set","node":0,"status":"0x86","applied":true,"bucket":"b",
//    "key":"u:*","connection":"<16 hex>","opaque":7}       -> {"entries":[...],"counters":[...]}
//   {"command":"audit_clear"}
//   {"command":"node_down","node":1} {"command":"node_up","node":1} {"command":"failover","node":1}
//   {"command":"move_vbucket","bucket":"b","vbucket":5,"to":2}
//   {"command":"forward_map","bucket":"b","rows":[[0,1],...]}                    (no rows: clear)
//   {"command":"hold","what":"replication"|"persistence"|"configuration","node":1,"held":true}
//   {"command":"where","bucket":"b","key":"k"}                  -> {"vbucket":5,"nodes":[0,1]}
//
// Answers have "ok":true and the command's members, or "ok":false and "error". Never throws on
// input.
json::value handle_control(cluster& cluster, const json::value& request);

}  // namespace reprise::sandbox

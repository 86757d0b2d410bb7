#pragma once

#include <chrono>
#include <expected>
#include <string>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster.hpp>

namespace reprise::sandbox {

// What some commands need of whoever owns the sockets and the clock. A simulation has neither and
// gives none. Called during handle_control, on its thread.
class control_front {
public:
    // Opens the ports of a new node, then lets it join. The error is for people.
    virtual std::expected<node_id, std::string> add_node() = 0;
    // Steps the rebalance that was just begun, once each `interval`, until it is over.
    virtual void run_rebalance(std::chrono::milliseconds interval) = 0;

protected:
    ~control_front() = default;
};

// The remote control of a cluster: one JSON object in, one out; the transport and who may use it
// are the front's business. `command` chooses; unknown members are errors, so that a misspelt
// option is never silently ignored.
//
//   {"command":"status"}
//   {"command":"fault_add","ops":["set","0xd1"],"key":"u:*","node":0,"bucket":"b","skip":0,
//    "every":1,"probability":1.0,"limit":3,
//    "effect":{"status":"0x86","context":"text","ref":"text"} | {"delay_ms":50} | "no_answer" |
//             "close_before" | "close_after" | "answer_twice" | "wrong_opaque" |
//             {"truncate":12} | {"garbage":24} | {"trickle_ms":5}}          -> {"id":1}
//   {"command":"fault_list"}                       -> {"faults":[...],"service_faults":[...]}
//   {"command":"fault_remove","id":1} {"command":"fault_clear"}    (clears those of services, too)
//   {"command":"service_fault_add","service":"query"|"analytics"|"search"|"views"|"management",
//    "node":0,"method":"POST","path":"/query/*","statement":"UPSERT*","context":"*","skip":0,
//    "every":1,"probability":1.0,"limit":3,
//    "effect":{"status":503,"headers":{"Retry-After":"1"},"body":"text"} | {"delay_ms":50} |
//             {"close_mid_body":12} | {"wrong_length":-3} | {"encoding":"gzip"} |
//             {"redirect":"/elsewhere","status":302} | {"continue_first":2} | "no_answer" |
//             "close_before" | "close_after" | "close_after_headers" | "bad_chunk"} -> {"id":1}
//   {"command":"service_fault_remove","id":1}        (rules of services are numbered apart)
//   {"command":"forget_prepared"}                                        -> {"forgotten":3}
//   {"command":"audit","limit":100,"op":"set","node":0,"status":"0x86","applied":true,"bucket":"b",
//    "key":"u:*","connection":"<16 hex>","opaque":7}       -> {"entries":[...],"counters":[...]}
//   {"command":"service_audit","limit":100,"service":"query","node":0,"status":503,"applied":true,
//    "context":"id","path":"/query/*","statement":"UPSERT*"}             -> {"entries":[...]}
//   {"command":"service_contexts","count_min":2}    (context ids that were seen so often)
//                       -> {"contexts":[{"context":"id","requests":2,"applied":1}]}
//   {"command":"audit_clear"}                                         (of the services, too)
//   {"command":"topology"}         ->
//   {"nodes":[{"node":0,"state":"up","joining":false,"active":256,
//                                      "replica":256,"kv":11210,...}],"rebalance":{...}}
//   {"command":"node_down","node":1} {"command":"node_up","node":1}
//   {"command":"node_restart","node":1,"keep_data":true}
//   {"command":"node_add"}                                       -> {"node":4,"kv":11230,...}
//   {"command":"node_add_back","node":1}                     (of a node that was failed over)
//   {"command":"failover","node":1}
//   {"command":"failover","node":1,"graceful":true,"interval_ms":5}      -> {"rebalance":{...}}
//   {"command":"rebalance","eject":[1],"interval_ms":5}                  -> {"rebalance":{...}}
//       with an interval the server steps by itself; without, the next commands do
//   {"command":"rebalance_step","count":1}   -> {"steps":[{"bucket":"b","vbucket":5,"from":[0,1],
//                                                "to":[4,0]}],"rebalance":{...}}
//   {"command":"rebalance_stop"}                                         -> {"rebalance":{...}}
//       "rebalance":{"running":true,"kind":"rebalance","end":"none","done":3,"total":512,
//       "leaving":[1],"bucket":"b","vbucket":9}; "end" tells how the last one ended
//   {"command":"move_vbucket","bucket":"b","vbucket":5,"to":2}
//   {"command":"forward_map","bucket":"b","rows":[[0,1],...]}                    (no rows: clear)
//   {"command":"hold","what":"replication"|"persistence"|"recommit"|"configuration","node":1,
//    "held":true}                                                 (node: of a configuration only)
//   {"command":"disturb","node":1,"frozen":true,"refuse_connections":true,"partitioned":true,
//    "tls":"none"|"untrusted"|"wrong_host"|"expired"|"alert"|"reset","reject_credentials":true,
//    "stale_logins":3|"all","corrupt_error_map":true,"corrupt_configuration":true,"clear":true}
//       no node: all of them; what is not given stays, unless "clear" takes everything back first
//   {"command":"disturbances"}                              -> {"nodes":[{"node":0,...}]}
//   {"command":"node_kill","node":1} {"command":"replay_configuration","node":1}
//   {"command":"error_code","code":"0x7ff0","name":"N","description":"text","attributes":["temp"],
//    "retry":{"strategy":"linear","interval_ms":10,"after_ms":10,"ceil_ms":200,
//    "max_duration_ms":1000}} {"command":"error_code","code":"0x7ff0","drop":true}
//   {"command":"user_put","name":"app","password":"p","token":"t","buckets":["b"]}
//       of a known user only what is given changes   {"command":"user_drop","name":"app"}
//   {"command":"bucket_deny","bucket":"b","user":"app","denied":true}        (no user: everybody)
//   {"command":"bucket_presence","bucket":"b","node":1,"presence":"full"|"absent"|"config_only"}
//   {"command":"collection_hide","bucket":"b","scope":"s","collection":"c","node":1,"hidden":true}
//   {"command":"collection_recreate","bucket":"b","scope":"s","collection":"c"}
//   {"command":"durability","replication_delay_ms":50,"recommit_delay_ms":0}  -> {"pending":0}
//   {"command":"where","bucket":"b","key":"k"}                  -> {"vbucket":5,"nodes":[0,1]}
//
// Answers have "ok":true and the command's members, or "ok":false and "error". Never throws on
// input.
json::value handle_control(
    cluster& cluster, const json::value& request, control_front* front = nullptr);

}  // namespace reprise::sandbox

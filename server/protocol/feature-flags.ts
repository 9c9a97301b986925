/** What nats-server tries out, and has on or off by default, as answers about a server show it. Nothing is chosen here. */

export const FEATURE_FLAGS: Readonly<Record<string, boolean>> = {
  js_ack_fc_v2: false,
  js_api_reply_v2: false,
  js_raft_delete_range: true,
  js_snapshot_sources: false,
};

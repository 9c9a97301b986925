/** Consumers that serve requests by priority: groups, overflow, one pinned client, sorted requests; as with nats-server. */
import { describePullTalks } from '../helpers/pull-talk.ts';

const GROUPS = `"priority_groups":["A"]`;

describePullTalks('priority groups', [
  [
    'are what the configuration says',
    `consumer C1 {"priority_policy":"overflow"}
     consumer C2 {"priority_groups":["A"]}
     consumer C3 {"priority_timeout":1000000000}
     consumer C4 {"priority_policy":"pinned_client",${GROUPS}}
     consumer C5 {"priority_policy":"pinned_client",${GROUPS},"priority_timeout":1000000000}
     consumer C6 {"priority_policy":"overflow",${GROUPS},"deliver_subject":"x"}
     consumer C7 {"priority_policy":"prioritized","priority_groups":["A",""]}
     consumer C8 {"priority_policy":"prioritized","priority_groups":["A","12345678901234567"]}
     consumer C9 {"priority_policy":"prioritized","priority_groups":["a b"]}
     consumer C10 {"priority_policy":"prioritized","priority_groups":["A","B"]}
     consumer C11 {"priority_policy":"none","priority_groups":[]}
     consumer C12 {"priority_policy":"what",${GROUPS}}
     consumer C13 {"priority_policy":"pinned_client",${GROUPS},"priority_timeout":-1}
     info C4
     info C10
     consumer C10 {"priority_policy":"overflow",${GROUPS}}
     consumer C10 {}
     info C10`,
  ],
  [
    'are named by requests',
    `consumer C {"priority_policy":"overflow",${GROUPS}}
     consumer N
     put a
     pull C
     hear 1
     pull C 1
     pull C {"batch":1}
     hear 1
     pull C {"batch":1,"group":"B"}
     hear 1
     pull C {"batch":1,"group":"A","id":"x"}
     hear 1
     pull C {"batch":1,"group":"A","priority":10}
     hear 1
     pull C {"batch":1,"group":"A","priority":-1}
     hear 1
     pull N {"batch":1,"group":"A","no_wait":true}
     hear 1
     pull N {"batch":1,"min_pending":1}
     hear 1
     pull N {"batch":1,"min_ack_pending":1}
     hear 1
     pull N {"batch":1,"id":"x"}
     hear 1
     pull N {"batch":1,"priority":10}
     hear 1
     pull N {"group":5}
     hear 1
     pull N {"min_pending":1.5}
     hear 1
     pull N {"min_ack_pending":"1"}
     hear 1
     pull N {"id":[]}
     hear 1
     pull N {"priority":true}
     hear 1
     info C`,
  ],
  [
    'let requests overflow that find enough pending',
    `consumer C {"priority_policy":"overflow",${GROUPS}}
     pull C {"batch":2,"group":"A","min_pending":3,"expires":5000000000}
     put a b
     quiet
     info C
     put c d
     hear 2
     pull C {"batch":1,"group":"A","min_pending":10,"expires":5000000000}
     pull C {"batch":1,"group":"A","min_pending":2,"expires":5000000000}
     hear 1
     pull C {"batch":1,"group":"A"}
     hear 1
     put e
     pull C {"batch":1,"group":"A","min_pending":5,"no_wait":true}
     hear 1
     quiet
     info C`,
  ],
  [
    'let requests overflow that find enough unacknowledged',
    `consumer C {"priority_policy":"overflow",${GROUPS}}
     put a b c d
     pull C {"batch":2,"group":"A","min_ack_pending":2,"expires":5000000000}
     quiet
     pull C {"batch":2,"group":"A"}
     hear 4
     info C`,
  ],
  [
    'serve requests that overflow again and again',
    `consumer C {"priority_policy":"overflow",${GROUPS},"ack_wait":300000000}
     put a b
     pull C {"batch":2,"group":"A"}
     hear 2
     pull C {"batch":2,"group":"A","min_ack_pending":2,"expires":3000000000}
     hear 2
     info C`,
  ],
  [
    'serve one pinned client',
    `listen $JS.EVENT.ADVISORY.CONSUMER.*.S.C
     consumer C {"priority_policy":"pinned_client",${GROUPS}}
     hear 1
     pull C {"batch":1,"group":"A","expires":5000000000}
     pull C {"batch":2,"group":"A","expires":5000000000}
     put a
     hear 2
     put b
     quiet
     pull C {"batch":1,"group":"A","id":"<pin 1>","expires":5000000000}
     hear 1
     pull C {"batch":1,"group":"A","id":"other","expires":5000000000}
     hear 1
     put c Key: value
     quiet
     pull C {"batch":1,"group":"A","id":"<pin 1>"}
     hear 1
     info C`,
  ],
  [
    'let a client be pinned no more',
    `listen $JS.EVENT.ADVISORY.CONSUMER.*.S.C
     consumer C {"priority_policy":"pinned_client",${GROUPS}}
     hear 1
     put a
     pull C {"batch":1,"group":"A"}
     hear 2
     pull C {"batch":2,"group":"A","id":"<pin 1>","expires":5000000000}
     pull C {"batch":1,"group":"A","expires":5000000000}
     quiet
     api CONSUMER.UNPIN.S.C {"group":"A"}
     hear 1
     info C
     put b
     hear 3
     info C
     api CONSUMER.UNPIN.S.C {"group":"B"}
     api CONSUMER.UNPIN.S.C {"group":""}
     api CONSUMER.UNPIN.S.C {"group":"a b"}
     api CONSUMER.UNPIN.S.C {}
     api CONSUMER.UNPIN.S.C x
     api CONSUMER.UNPIN.S.X {"group":"A"}
     api CONSUMER.UNPIN.X.X {"group":"A"}`,
  ],
  [
    'let a client be pinned no more that does not ask',
    `listen $JS.EVENT.ADVISORY.CONSUMER.*.S.C
     consumer C {"priority_policy":"pinned_client",${GROUPS},"priority_timeout":400000000}
     hear 1
     pull C {"batch":1,"group":"A"}
     put a
     hear 2
     pull C {"batch":1,"group":"A","expires":5000000000}
     put b
     hear 3
     pull C {"batch":1,"group":"A","id":"<pin 1>"}
     hear 1
     info C`,
  ],
  [
    'serve a plain request where nobody is pinned',
    `consumer C {"priority_policy":"pinned_client",${GROUPS}}
     put a b
     pull C
     hear 1
     info C
     pull C {"batch":1,"group":"A","max_bytes":5}
     hear 1
     info C`,
  ],
  [
    'serve the more important first',
    `consumer C {"priority_policy":"prioritized",${GROUPS}}
     pull C {"batch":1,"group":"A","priority":5,"expires":5000000000}
     pull C {"batch":2,"group":"A","priority":1,"expires":5000000000}
     pull C {"batch":2,"group":"A","priority":1,"expires":5000000000}
     pull C {"batch":1,"group":"A","expires":5000000000}
     pull C 1
     put a b c d e f g
     hear 7
     info C`,
  ],
  [
    'pin a client of messages without payload',
    `consumer C {"priority_policy":"pinned_client",${GROUPS},"headers_only":true}
     put a
     put b Key: value
     pull C {"batch":2,"group":"A"}
     hear 2`,
  ],
]);

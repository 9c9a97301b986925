/** Pull consumers: what is delivered to whom, how often, and where the consumer stands then; as nats-server does it. */
import { describePullTalks } from '../helpers/pull-talk.ts';

describePullTalks('acknowledgements', [
  [
    'explicit: floors move over what is acknowledged in order',
    `put a*5
     consumer C
     info C
     pull C 5
     hear 5
     ack 2
     info C
     ack 1
     info C
     ack 4 +ACK
     ack 5 +OK
     info C
     ack 3
     info C
     ack 3`,
  ],
  [
    'all: everything up to a message is acknowledged',
    `put a*6
     consumer C {"ack_policy":"all"}
     pull C 5
     hear 5
     ack 3
     info C
     ack 2
     info C
     ack 5
     info C
     pull C 1
     hear 1
     info C`,
  ],
  [
    'none: nothing is pending, and acknowledgements mean nothing',
    `put a*3
     consumer C {"ack_policy":"none"}
     pull C 2
     hear 2
     info C
     ack 1
     ack 2 -NAK
     ack 2 +WPI
     ack 2 +TERM
     info C`,
  ],
  [
    'none: a next message is still to be had',
    `put a*3
     consumer C {"ack_policy":"none"}
     pull C
     hear 1
     ack 1 +NXT
     hear 1`,
  ],
  [
    'what is refused comes again at once',
    `put a*3
     consumer C
     pull C 2
     hear 2
     ack 1 -NAK
     pull C 2
     hear 2
     info C
     ack 3
     info C`,
  ],
  [
    'what is refused with a delay comes again behind it',
    `put a*2
     consumer C
     pull C 2
     hear 2
     ack 1 -NAK {"delay": 600000000}
     ack 2 -NAK 100ms
     pull C {"batch":2,"expires":2000000000}
     hear 2
     info C`,
  ],
  [
    'a delay that is none',
    `put a
     consumer C
     pull C 1
     hear 1
     ack 1 -NAK {"delay": "x"}
     pull C 1
     hear 1
     ack 2 -NAK soon
     pull C 1
     hear 1
     ack 3 -NAK {}
     pull C 1
     hear 1
     ack 4 -NAK -5s
     pull C 1
     hear 1`,
  ],
  [
    'who is still at it gets more time',
    `put a
     consumer C {"ack_wait":1200000000}
     pull C 1
     hear 1
     wait 700
     ack 1 +WPI
     pull C {"expires":700000000}
     hear 1
     pull C {"expires":3000000000}
     hear 1
     info C`,
  ],
  [
    'terminated messages do not come again',
    `put a*2
     consumer C {"ack_wait":200000000}
     pull C 2
     hear 2
     ack 1 +TERM
     ack 2 +TERM for a reason
     info C
     pull C {"expires":500000000}
     hear 1`,
  ],
  [
    'unknown words change nothing',
    `put a
     consumer C
     pull C 1
     hear 1
     ack 1 hello
     ack 1 +ACKNOWLEDGED
     ack 1 +WPI!
     info C
     ack 1 +OK
     info C`,
  ],
  [
    'next: with nothing, a number, and a request',
    `put a*6
     consumer C
     pull C
     hear 1
     ack 1 +NXT
     hear 1
     ack 2 +NXT 2
     hear 2
     ack 4 +NXT {"batch":3,"no_wait":true}
     hear 3
     info C`,
  ],
  [
    'of what was never delivered mean nothing',
    `put a*3
     consumer C
     consumer D
     pull C 3
     hear 3
     pull D 1
     hear 1
     info D`,
  ],
  [
    'with limits on what may be pending',
    `put a*4
     consumer C {"max_ack_pending":2}
     pull C {"batch":4,"expires":600000000}
     hear 2
     quiet
     ack 1
     hear 1
     info C
     hear 1
     info C`,
  ],
  [
    'wait in redelivery does not count for more',
    `put a*3
     consumer C {"max_ack_pending":2,"ack_wait":300000000}
     pull C {"batch":2}
     hear 2
     ack 1 -NAK 10s
     pull C {"batch":2,"expires":800000000}
     hear 2
     info C`,
  ],
]);

describePullTalks('redelivery', [
  [
    'after the wait, in order',
    `put a*3
     consumer C {"ack_wait":200000000}
     pull C 3
     hear 3
     ack 2
     pull C {"batch":3,"expires":1000000000}
     hear 3
     info C`,
  ],
  [
    'comes before what is new',
    `put a*2
     consumer C {"ack_wait":200000000}
     pull C 1
     hear 1
     wait 400
     pull C 2
     hear 2
     info C`,
  ],
  [
    'with backoff',
    `put a
     consumer C {"backoff":[100000000,300000000],"max_deliver":4}
     pull C {"batch":5,"expires":1500000000}
     hear 5
     info C`,
  ],
  [
    'ends when it was as often as allowed',
    `put a*2
     consumer C {"ack_wait":150000000,"max_deliver":2}
     pull C {"batch":9,"expires":900000000}
     hear 5
     info C
     ack 4
     info C`,
  ],
  [
    'of one delivery is none',
    `put a*2
     consumer C {"ack_wait":150000000,"max_deliver":1}
     pull C {"batch":9,"expires":600000000}
     hear 3
     info C`,
  ],
  [
    'exhausted by refusals',
    `put a*2
     consumer C {"max_deliver":2}
     pull C 1
     hear 1
     ack 1 -NAK
     pull C 1
     hear 1
     ack 2 -NAK
     info C
     pull C 1
     hear 1
     info C`,
  ],
  [
    'exhausted messages that go are forgotten',
    `put a*2
     consumer C {"ack_wait":150000000,"max_deliver":2}
     pull C {"batch":9,"expires":900000000}
     hear 5
     info C
     api STREAM.MSG.DELETE.S {"seq":1}
     wait 100
     info C`,
  ],
  [
    'of what is gone is none',
    `put a*3
     consumer C {"ack_wait":200000000}
     pull C 3
     hear 3
     api STREAM.MSG.DELETE.S {"seq":2}
     info C
     pull C {"batch":3,"expires":800000000}
     hear 3
     info C`,
  ],
  [
    'after a purge is none',
    `put a*3
     consumer C
     pull C 2
     hear 2
     api STREAM.PURGE.S
     info C
     put a
     pull C 1
     hear 1
     info C`,
  ],
  [
    'after a purge up to a sequence',
    `put a*5
     consumer C
     pull C 3
     hear 3
     api STREAM.PURGE.S {"seq":3}
     info C
     ack 3
     info C`,
  ],
  [
    'after a purge of a subject',
    `put a b a b
     consumer C
     pull C 3
     hear 3
     api STREAM.PURGE.S {"filter":"s.a"}
     wait 100
     ack 2
     pull C 1
     hear 1`,
  ],
]);

describePullTalks('requests', [
  [
    'without a body, with a number, with nonsense',
    `put a*9
     consumer C
     pull C
     hear 1
     pull C 2
     hear 2
     pull C x
     hear 1
     pull C -3
     hear 1
     pull C 0
     hear 1
     pull C {}
     hear 1
     info C`,
  ],
  [
    'that is not JSON, or not of the right kind',
    `put a
     consumer C
     pull C {
     hear 1
     pull C {"batch":"x"}
     hear 1
     pull C {"batch":1.5}
     hear 1
     pull C {"expires":"1s"}
     hear 1
     pull C {"unknown":1,"no_wait":true}
     hear 1`,
  ],
  [
    'that does not wait',
    `put a*3
     consumer C
     pull C {"no_wait":true,"batch":2}
     hear 2
     pull C {"no_wait":true,"batch":5}
     hear 2
     pull C {"no_wait":true}
     hear 1
     pull C {"no_wait":true,"expires":300000000}
     hear 1
     info C`,
  ],
  [
    'that does not wait behind one that does',
    `put a*2
     consumer C {"max_ack_pending":1}
     pull C 1
     hear 1
     pull C {"batch":5,"expires":1000000000}
     quiet
     pull C {"batch":1,"no_wait":true}
     hear 2`,
  ],
  [
    'with a time',
    `consumer C
     pull C {"batch":2,"expires":300000000}
     put a
     hear 2
     info C`,
  ],
  [
    'with a limit of bytes',
    `put a:100 a:100 a:1000
     consumer C
     pull C {"batch":5,"max_bytes":400,"expires":500000000}
     hear 3
     pull C {"batch":1,"max_bytes":5000,"expires":500000000}
     hear 2
     info C`,
  ],
  [
    'with a limit of bytes that is reached exactly',
    `put a:100 a:100
     consumer C
     pull C {"batch":5,"max_bytes":153,"expires":300000000}
     hear 1
     quiet`,
  ],
  [
    'with heartbeats',
    `consumer C
     pull C {"expires":1000000000,"idle_heartbeat":400000000}
     hear 3
     put a
     pull C {"batch":2,"expires":1000000000,"idle_heartbeat":400000000}
     hear 4`,
  ],
  [
    'with heartbeats while there is only what the consumer does not want',
    `consumer C {"filter_subject":"s.a","max_ack_pending":1}
     put b c
     pull C {"batch":2,"expires":1000000000,"idle_heartbeat":400000000}
     hear 3
     put a b a b
     pull C {"batch":2,"expires":1000000000,"idle_heartbeat":400000000}
     hear 4`,
  ],
  [
    'with heartbeats that are too slow',
    `consumer C
     pull C {"expires":500000000,"idle_heartbeat":300000000}
     hear 1
     pull C {"idle_heartbeat":300000000}
     hear 1`,
  ],
  [
    'larger than the consumer allows',
    `consumer C {"max_batch":2,"max_expires":1000000000,"max_bytes":1000}
     pull C 3
     hear 1
     pull C {"batch":3}
     hear 1
     pull C {"expires":2000000000}
     hear 1
     pull C {"max_bytes":1001}
     hear 1
     pull C {"batch":3,"expires":2000000000}
     hear 1`,
  ],
  [
    'more than may wait',
    `consumer C {"max_waiting":2}
     pull C {"expires":2000000000}
     pull C {"expires":2000000000}
     pull C {"expires":2000000000}
     hear 1
     pull C {"expires":2000000000,"idle_heartbeat":900000000}
     quiet
     info C`,
  ],
  [
    'of somebody who has left',
    `consumer C
     pull C {"batch":2,"expires":5000000000}
     pull C {"batch":2,"expires":5000000000}
     quiet
     leave 1
     info C
     put a
     hear 1
     put a
     hear 1
     info C`,
  ],
  [
    'of somebody who left in the middle',
    `put a
     consumer C
     pull C {"batch":5}
     hear 1
     leave 1
     put a
     pull C {"batch":1}
     hear 1
     info C`,
  ],
  [
    'in turn',
    `consumer C
     pull C {"batch":2,"expires":5000000000}
     pull C {"batch":2,"expires":5000000000}
     quiet
     put a
     hear 1
     put a
     hear 1
     put a
     hear 1
     put a
     hear 1`,
  ],
  [
    'when the consumer is deleted',
    `consumer C
     pull C {"batch":2,"expires":5000000000}
     pull C {"batch":2,"expires":5000000000}
     quiet
     tell CONSUMER.DELETE.S.C
     hear 2`,
  ],
  [
    'when the stream is deleted',
    `consumer C
     pull C {"batch":2,"expires":5000000000}
     quiet
     tell STREAM.DELETE.S
     hear 1`,
  ],
  [
    'for priorities that the consumer has not',
    `put a
     consumer C
     pull C {"min_pending":1}
     hear 1
     pull C {"min_ack_pending":1}
     hear 1
     pull C {"id":"x"}
     hear 1
     pull C {"priority":10}
     hear 1
     pull C {"priority":-1}
     hear 1
     pull C {"group":"g"}
     hear 1
     pull C {"BATCH":2,"No_Wait":true}
     hear 1`,
  ],
  [
    'of a consumer that is not there',
    `pull C 1
     hear 1`,
  ],
]);

describePullTalks('messages', [
  [
    'as headers only',
    `put a:100
     put a Some: header
     put a Nats-Msg-Id: x
     consumer C {"headers_only":true}
     pull C 3
     hear 3
     info C`,
  ],
  [
    'the last per subject, and then all',
    `put a b a c b
     consumer C {"deliver_policy":"last_per_subject","filter_subjects":["s.>"]}
     info C
     put a b
     info C
     pull C 9
     hear 5
     info C
     put c
     hear 1
     info C`,
  ],
  [
    'the last per subject of some',
    `put a b a c b d
     consumer C {"deliver_policy":"last_per_subject","filter_subjects":["s.a","s.c"]}
     info C
     pull C 9
     hear 2
     put b a
     hear 1
     info C`,
  ],
  [
    'the last per subject where there is but one of each',
    `stream {"max_msgs_per_subject":1}
     put a b a c b
     consumer C {"deliver_policy":"last_per_subject","filter_subject":"s.>"}
     info C
     put a
     info C
     pull C 9
     hear 3
     info C`,
  ],
  [
    'the last per subject of a stream that has none',
    `put a*3
     consumer C {"deliver_policy":"last_per_subject","filter_subject":"s.b"}
     info C
     put b a
     pull C 2
     hear 1
     info C`,
  ],
  [
    'the last per subject of an empty stream',
    `consumer C {"deliver_policy":"last_per_subject","filter_subject":"s.>"}
     info C
     put b a
     pull C 2
     hear 2
     info C`,
  ],
  [
    'from the last on',
    `put a b a c
     consumer C {"deliver_policy":"last"}
     info C
     consumer D {"deliver_policy":"last","filter_subject":"s.a"}
     info D
     consumer E {"deliver_policy":"last","filter_subjects":["s.a","s.b"]}
     info E
     consumer F {"deliver_policy":"last","filter_subjects":["s.x"]}
     info F
     pull D 1
     hear 1
     pull E 1
     hear 1
     info E`,
  ],
  [
    'from a sequence on',
    `put a*5
     consumer C {"deliver_policy":"by_start_sequence","opt_start_seq":3}
     info C
     pull C 1
     hear 1
     consumer D {"deliver_policy":"by_start_sequence","opt_start_seq":8}
     info D
     consumer E {"deliver_policy":"by_start_sequence","opt_start_seq":140737488355328}
     info E`,
  ],
  [
    'from a sequence on that is gone',
    `put a*5
     api STREAM.PURGE.S {"seq":4}
     consumer C {"deliver_policy":"by_start_sequence","opt_start_seq":2}
     info C
     pull C 1
     hear 1`,
  ],
  [
    'from a time on',
    `put a*3
     consumer C {"deliver_policy":"by_start_time","opt_start_time":"1999-01-01T00:00:00Z"}
     info C
     consumer D {"deliver_policy":"by_start_time","opt_start_time":"2222-01-01T00:00:00Z"}
     info D
     consumer E {"deliver_policy":"by_start_time","opt_start_time":"0001-01-01T00:00:00Z"}
     info E
     consumer F {"deliver_policy":"by_start_time","opt_start_time":"1999-01-01T00:00:00Z","filter_subject":"s.b"}
     info F`,
  ],
  [
    'new ones',
    `put a*3
     consumer C {"deliver_policy":"new"}
     info C
     pull C 1
     put a
     hear 1
     info C`,
  ],
  [
    'of several filters',
    `put a b.x c b.y d a
     consumer C {"filter_subjects":["s.a","s.b.*"]}
     info C
     pull C 9
     hear 4
     put c a
     hear 1
     info C
     consumer C {"filter_subjects":["s.c","s.b.*"]}
     info C
     put c d
     hear 1
     info C`,
  ],
  [
    'counted as they come and go',
    `put a b a b a
     consumer C {"filter_subject":"s.a"}
     info C
     api STREAM.MSG.DELETE.S {"seq":3}
     info C
     api STREAM.MSG.DELETE.S {"seq":2}
     info C
     put a b
     info C
     api STREAM.PURGE.S {"filter":"s.b"}
     info C
     pull C 1
     hear 1
     info C
     api STREAM.PURGE.S
     info C`,
  ],
  [
    'at their pace',
    `put a
     wait 300
     put a
     wait 100
     put a
     consumer C {"replay_policy":"original"}
     pull C 3
     hear 1
     hear 2
     info C`,
  ],
]);

describePullTalks('a start anew', [
  [
    'keeps what was delivered and acknowledged',
    `put a*6
     consumer C {"ack_wait":3000000000}
     pull C 4
     hear 4
     ack 1
     ack 3
     info C
     restart
     pull C {"batch":4,"expires":6000000000}
     hear 4`,
  ],
  [
    'takes acknowledgements of what was delivered before',
    `put a*3
     consumer C
     pull C 3
     hear 3
     restart
     ack 2
     ack 1
     info C
     ack 3
     info C`,
  ],
  [
    'remembers acknowledgements of all',
    `put a*5
     consumer C {"ack_policy":"all"}
     pull C 4
     hear 4
     ack 3
     restart
     info C
     pull C 1
     hear 1
     info C`,
  ],
  [
    'remembers what was delivered too often',
    `put a*2
     consumer C {"ack_wait":100000000,"max_deliver":2}
     pull C {"batch":9,"expires":700000000}
     hear 5
     restart
     pull C {"batch":9,"expires":400000000}
     hear 1`,
  ],
  [
    'ends consumers in memory',
    `put a*2
     consumer C {"mem_storage":true}
     consumer D {}
     restart
     api CONSUMER.NAMES.S`,
  ],
]);

describePullTalks('a stream', [
  [
    'that limits its consumers',
    `stream {"consumer_limits":{"max_ack_pending":5,"inactive_threshold":90000000000}}
     consumer C {}
     consumer D {"max_ack_pending":6}
     consumer E {"inactive_threshold":90000000001}
     consumer F {"inactive_threshold":91500000000}
     consumer G {"max_ack_pending":-1}
     consumer H {"ack_policy":"none"}
     api CONSUMER.CREATE.S {"stream_name":"S","config":{"durable_name":"x"}}
     api CONSUMER.NAMES.S`,
  ],
  [
    'that has enough consumers',
    `stream {"max_consumers":2}
     consumer C
     consumer D {"mem_storage":true}
     consumer E
     consumer C {"description":"again"}
     api CONSUMER.DELETE.S.D
     consumer E`,
  ],
  [
    'with consumers that end by themselves',
    `put a
     api CONSUMER.CREATE.S.E {"stream_name":"S","config":{"name":"E","ack_policy":"none"}}
     api CONSUMER.CREATE.S.F {"stream_name":"S","config":{"name":"F","ack_policy":"none","inactive_threshold":300000000}}
     consumer C {"inactive_threshold":300000000}
     consumer D {}
     info C
     pull F {"expires":1500000000,"batch":2}
     hear 1
     wait 1600
     api CONSUMER.NAMES.S
     hear 1
     wait 1500
     api CONSUMER.NAMES.S`,
  ],
  [
    'that keeps messages for its consumers',
    `stream {"retention":"interest"}
     consumer C
     consumer D {"ack_policy":"none"}
     consumer E {"ack_policy":"all"}
     put a*4
     pull D 4
     hear 4
     pull C 4
     hear 4
     ack 5
     ack 6 +TERM
     ack 8
     pull E 4
     hear 4
     ack 11
     wait 100
     api STREAM.MSG.GET.S {"seq":1}
     api STREAM.MSG.GET.S {"seq":2}
     api STREAM.MSG.GET.S {"seq":3,"no_hdr":true}
     api STREAM.MSG.GET.S {"seq":4,"no_hdr":true}
     ack 12
     wait 100
     api STREAM.MSG.GET.S {"seq":4}
     ack 7
     wait 100
     api STREAM.MSG.GET.S {"seq":3}`,
  ],
  [
    'that is a work queue',
    `stream {"retention":"workqueue"}
     consumer C {"ack_wait":300000000}
     put a*3
     pull C 3
     hear 3
     ack 2
     ack 3 +TERM
     wait 50
     api STREAM.MSG.GET.S {"seq":2}
     api STREAM.MSG.GET.S {"seq":3}
     pull C 1
     hear 1
     info C
     restart
     info C
     ack 4
     info C`,
  ],
]);

/** nats-server#6874: with max_deliver 1 the info spoke of redeliveries. */
import { describePullTalks } from '../helpers/pull-talk.ts';

describePullTalks('a consumer that delivers once', [
  [
    'has redelivered nothing',
    `put a
     consumer C {"ack_wait":100000000,"max_deliver":1}
     pull C {"batch":2,"expires":300000000}
     hear 2
     info C`,
    'C stands at {"delivered":{"consumer_seq":1,"stream_seq":1,"last_active":"<time>"},"ack_floor":{"consumer_seq":0,"stream_seq":0},"num_ack_pending":0,"num_redelivered":0,"num_waiting":0,"num_pending":0,"ts":"<time>"}',
  ],
]);

/** nats-server#6538, #7817: messages that were delivered too often vanished from streams that keep messages for their consumers. */
import { describePullTalks } from '../helpers/pull-talk.ts';

describePullTalks('a message that was delivered as often as allowed', [
  [
    'stays in an interest stream',
    `stream {"retention":"interest"}
     consumer C {"ack_wait":100000000,"max_deliver":1}
     consumer D
     put a*3
     pull C {"batch":3,"expires":400000000}
     hear 3
     ack 2
     ack 3
     quiet
     pull D 3
     hear 3
     ack 4
     ack 5
     ack 6
     api STREAM.MSG.GET.S {"seq":1,"no_hdr":true}
     restart
     api STREAM.MSG.GET.S {"seq":1,"no_hdr":true}
     api STREAM.MSG.GET.S {"seq":2}`,
  ],
  [
    'stays in a work queue',
    `stream {"retention":"workqueue"}
     consumer C {"ack_wait":100000000,"max_deliver":1}
     put a*2
     pull C {"batch":2,"expires":400000000}
     hear 2
     ack 2
     quiet
     restart
     api STREAM.MSG.GET.S {"seq":1,"no_hdr":true}
     api STREAM.MSG.GET.S {"seq":2}`,
  ],
]);

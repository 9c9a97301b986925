/** nats-server#8431: acknowledging all up to a message removed messages that the consumer's filter does not pass. */
import { describePullTalks } from '../helpers/pull-talk.ts';

describePullTalks('acknowledging everything up to a message', [
  [
    'removes nothing that only another consumer wants',
    `stream {"retention":"interest"}
     consumer A {"ack_policy":"all","filter_subject":"s.a"}
     consumer B {"ack_policy":"all","filter_subject":"s.b"}
     put a b a b a b
     pull A 3
     hear 3
     ack 3
     info A
     info B
     api STREAM.MSG.GET.S {"seq":1}
     api STREAM.MSG.GET.S {"seq":2}
     api STREAM.MSG.GET.S {"seq":4}
     restart
     info B
     pull B 3
     hear 3
     ack 4
     info B
     api STREAM.MSG.GET.S {"seq":2}
     api STREAM.MSG.GET.S {"seq":4}
     api STREAM.PURGE.S`,
  ],
  [
    'removes nothing that a consumer of everything still wants',
    `stream {"retention":"interest"}
     consumer A {"ack_policy":"all","filter_subject":"s.a"}
     consumer W {"ack_policy":"all"}
     put a b a b
     pull A 2
     hear 2
     ack 2
     info A
     pull W 4
     hear 4
     ack 4
     info W
     api STREAM.MSG.GET.S {"seq":2}
     api STREAM.MSG.GET.S {"seq":3}
     api STREAM.PURGE.S`,
  ],
]);

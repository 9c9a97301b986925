/** nats-server#7005, #8313, #3148: consumers of the last message per subject missed some, and miscounted, where messages had been deleted. */
import { describePullTalks } from '../helpers/pull-talk.ts';

describePullTalks('the last messages of all subjects', [
  [
    'come once each, and are counted exactly',
    `stream {"max_msgs_per_subject":2}
     put a b c a b c a a a b d a
     api STREAM.MSG.DELETE.S {"seq":10}
     consumer C {"deliver_policy":"last_per_subject","filter_subject":"s.>"}
     info C
     pull C 9
     hear 4
     info C`,
  ],
  [
    'come once each where there is one of each',
    `stream {"max_msgs_per_subject":1}
     put a b c a b c a a a b d a
     api STREAM.MSG.DELETE.S {"seq":10}
     consumer C {"deliver_policy":"last_per_subject","filter_subject":"s.>"}
     info C
     pull C 9
     hear 3
     info C`,
  ],
]);

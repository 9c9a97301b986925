/** nats-server#7779: filters that cross, of which neither is part of the other, were refused. */
import { describePullTalks } from '../helpers/pull-talk.ts';

describePullTalks('several filters', [
  [
    'may cross',
    `put foo.a a.foo foo.foo b
     consumer C {"filter_subjects":["s.foo.*","s.*.foo"]}
     pull C 9
     hear 3
     info C
     consumer D {"filter_subjects":["s.foo.*","s.foo.a"]}`,
  ],
]);

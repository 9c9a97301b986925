/** nats-server#5608: num_pending was too high with a filter that ends in a full wildcard. */
import { describePullTalks } from '../helpers/pull-talk.ts';

describePullTalks('a filter that ends in a full wildcard', [
  [
    'is counted exactly',
    `put x x.a x.b xx x.a.b y.x x.a.c*3
     consumer C {"filter_subject":"s.x.>"}
     info C
     pull C 2
     hear 2
     info C`,
    's.x.a <- $JS.ACK.S.C.1.2.1.<ns>.5 | 2',
  ],
]);

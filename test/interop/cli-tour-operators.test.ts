/** What operators do with the nats CLI: look at servers and accounts, check them, and watch what happens. */
import { tour } from './cli-tour.ts';
import { settled } from './system-scenario.ts';

const CONFIG = `
  server_name: toured
  server_tags: [edge]
  accounts {
    SYS { users: [{ user: sys, password: p }] }
    A { users: [{ user: a, password: p }], jetstream: enabled }
    B { users: [{ user: b, password: p }], exports: [{ service: ask }, { stream: "news.>" }] }
    C { users: [{ user: c, password: p }], imports: [{ service: { account: B, subject: ask } }] }
  }
  system_account: SYS
  jetstream { store_dir: "store", max_mem: 64MB, max_file: 1GB }
`;

/** Lines of `server info` that say what program it is, what it uses, and how it stores. */
const OWN_FACTS =
  /^( *(?:Git Commit|Go Version|Configuration Digest|API Support Level|Storage Directory|Always sync writes to disk|CPU Cores|Memory|Subscriptions|Messages|Bytes|Connections|Uptime)): .*$/gm;

const NUMBERS: readonly (readonly [pattern: RegExp, by: string])[] = [
  [OWN_FACTS, '$1: VALUE'],
  [/^( *toured: ).*$/gm, '$1BAR'],
  [/127\.0\.0\.1:\d+/g, 'ADDRESS'],
  // Titles of tables are in the middle of what is as wide as the widest cells.
  [/│ +/g, '│ '],
  [/^│ \d+ │/gm, '│ CID │'],
  [/\b\d+(\.\d+)? ([KMG]i)?B\b/g, 'SIZE'],
  [/\(\d+m?\d*(\.\d+)?s ago\)/g, '(AGO)'],
  [/rtt=\S+/g, 'rtt=SHORT'],
  [/(max|min|avg): \d+\.\d\d/g, '$1: TIME'],
  [/\b(cpu|mem|memory|uptime|subscriptions|start_time|age)=\S+/gi, '$1=VALUE'],
  [/│ (uptime|cpu|mem|subscriptions) │ \S+ │/g, '│ $1 │ VALUE │'],
  // nats-server has more subscriptions of its own.
  [/(│ edge │ \d+ │) \d+ │/g, '$1 SUBSCRIPTIONS │'],
  [/\bSubscriptions \d+\.00/g, 'Subscriptions NUMBER'],
  [/"rtt":\d+/g, '"rtt":SHORT'],
  [/\bcid: \d+/g, 'cid: CID'],
  [/^( +ID): \d+$/gm, '$1: CID'],
  [/\bhandler \d+/g, 'handler NUMBER'],
];

tour({
  title: 'a tour of servers',
  config: CONFIG,
  settle,
  stops: [
    'a: stream add S --subjects s.* --defaults',
    'a: pub s.a x --count 5 -J',
    'a: consumer add S C --pull --defaults',
    'sys: server list',
    'sys: server list --json',
    'sys: server ping',
    'sys: server ping 1 --id --graph',
    'sys: server info',
    'sys: server info toured',
    'sys: server info SERVER',
    'sys: server info none',
    'a: server list',
    'a: server info',
    'sys: server report accounts',
    'sys: server report accounts A',
    'sys: server report connections',
    'sys: server report connections --account SYS --sort cid',
    'sys: server report connections --account NONE',
    'sys: server report connections --state closed --account A --sort cid',
    'sys: server report cpu',
    'sys: server report mem',
    'sys: server report gateways',
    'sys: server report health',
    'sys: server report health --account A --stream S --consumer C',
    'sys: server report health --account A --stream NONE',
    'sys: server report jetstream',
    'sys: server report jetstream --account A --sort cluster',
    'sys: server report leafnodes',
    'sys: server report routes',
    'sys: server report downgrade 1',
    'a: server report jetstream',
    'sys: server request accounts',
    'sys: server request accounts --account B',
    'sys: server request accounts --account C',
    'sys: server request accounts --account NONE',
    'sys: server request connections',
    'sys: server request connections --subscriptions --sort subs --filter-account SYS',
    'sys: server request connections --filter-user sys',
    'sys: server request connections --filter-cid 99999',
    'sys: server request connections --filter-account SYS --filter-subject _INBOX.*.x',
    'sys: server request connections --filter-account SYS --filter-subject other',
    'sys: server request connections --filter-subject other',
    'sys: server request gateways',
    'sys: server request ipqueue',
    'sys: server request jetstream',
    'sys: server request jetstream --all',
    'sys: server request jetstream --account A --streams --consumer --config',
    'sys: server request jetstream --account NONE --leader',
    'sys: server request jetstream-health',
    'sys: server request jetstream-health --details --account A --stream NONE',
    'sys: server request leafnodes',
    'sys: server request profile heap',
    'sys: server request raft',
    'sys: server request routes',
    'sys: server request subscriptions',
    'sys: server request subscriptions --detail --filter-account B',
    'sys: server request variables',
    'sys: server request variables --name oure --tags edge',
    'sys: server request variables --name other',
    'sys: server request kick 99999 SERVER',
    'sys: server account info A',
    'sys: server account info B',
    'sys: server account info NONE',
    'sys: server config reload SERVER -f',
    'sys: server config reload NONE -f',
    'sys: server cluster step-down',
    'sys: server cluster peer-remove x -f',
    'sys: server mappings a b a',
    'sys: server account purge A -f',
    'a: stream ls --names',
    'sys: server account purge NONE -f',
  ],
  differing: {
    'sys: server request profile heap': 'profiles are of another runtime',
    'sys: server request ipqueue': 'one thread has no queues between threads',
  },
});

tour({
  title: 'a tour of checks, accounts and events',
  config: CONFIG,
  settle,
  stops: [
    'a: stream add S --subjects s.* --defaults',
    'a: consumer add S C --pull --defaults',
    'sys: server check connection --format text',
    'a: server check stream --stream S --format text',
    'a: server check consumer --stream S --consumer C --format text',
    'a: server check jetstream --format text',
    'b: server check jetstream --format text',
    'sys: server check meta --expect 1 --lag-critical 1 --seen-critical 1s --format text',
    'sys: server check server --name toured --js-required --auth-required --format text',
    'sys: server check server --name toured --tls-required --format text',
    'sys: server check server --name toured --conn-warn 100 --conn-critical 200 --subs-warn 900 --subs-critical 1000 --format text',
    'sys: server check server --name none --format text',
    'b: reply ask answer --count 1 | c: server check request --subject ask --payload x --match-payload answer --format text',
    'a: account info',
    'b: account info',
    'sys: account info',
    'a: account report connections',
    'a: account report connections --state closed --sort cid --top 1',
    'a: account report connections --subject _INBOX.>',
    'a: account report statistics',
    'sys: account report connections',
    'sys: account report statistics',
    'sys: events --short & a: pub x y',
    'sys: events --json & a: pub x y',
    'sys: events & b: pub x y',
    'sys: events --subjects $SYS.ACCOUNT.*.SERVER.CONNS & a: pub x y',
    'sys: top toured -o snapshot',
    'sys: top none -o snapshot',
    'a: latency --size 16 --rate 100 --duration 1s',
    'b: service ls',
    'b: service serve calc & b: service ls',
    'b: service serve calc & b: service info calc',
    'b: service serve calc & b: service stats calc',
    'b: service serve calc & b: service ping',
  ],
});

function settle(text: string): string {
  const [, json, exit = ''] = /^([[{][\s\S]*[\]}])\n(exit \d+\n)$/.exec(text) ?? [];
  if (json !== undefined) return `${settledJson(json)}\n${exit}`;
  let shown = text.replaceAll(/^\{".*$/gm, settledJson);
  // Everything in a row about memory is a measure.
  shown = shown.replaceAll(/^.*\b\d+ MiB.*$/gm, (line) => line.replaceAll(/\d+(\.\d+)?( MiB|ms|s)?/g, 'N'));
  for (const [pattern, by] of NUMBERS) shown = shown.replace(pattern, by);
  // Imports and exports come from maps that nats-server walks in any order.
  return shown.replaceAll(/(?:^ +Subject: .*\n(?: +\w+: .*\n)+\n)+/gm, (blocks) =>
    blocks.split(/\n\n/).toSorted().join('\n\n'),
  );
}

function settledJson(json: string): string {
  return JSON.stringify(settled(JSON.parse(json.replaceAll(':PORT', ':0'))), null, 1);
}

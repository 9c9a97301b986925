/** What may cross a link, given what the hub, the configuration and JetStream say. */
import { describe, expect, it } from 'vitest';
import type { SubjectLists } from '../../leafnode/hub-info.ts';
import { readHubInfo } from '../../leafnode/hub-info.ts';
import { LeafPermissions } from '../../leafnode/leaf-permissions.ts';

function permissions(exports: Partial<SubjectLists> | null, imports: Partial<SubjectLists> | null): LeafPermissions {
  const whole = (lists: Partial<SubjectLists> | null): SubjectLists | null =>
    lists === null ? null : { allow: null, deny: [], ...lists };
  const denies = { denyExports: ['de.*'], denyImports: ['di.*'], ownDomain: 'edge' };
  return new LeafPermissions(denies, whole(exports), whole(imports));
}

function receives(of: LeafPermissions, subject: string): boolean {
  const bytes = Buffer.from(subject, 'latin1');
  return of.mayReceive(bytes, 0, bytes.length);
}

describe('permissions of a leaf link', () => {
  it.each([
    ['any', true],
    ['de.x', false],
    ['de', true],
    ['di.x', true],
    ['$JS.API.INFO', false],
    ['$JS.edge.API.INFO', false],
    ['$JS.hub.API.INFO', true],
    ['$KV.b.k', false],
    ['$OBJ.b.c', false],
    ['$SYS.REQ', true],
  ])('without the hub saying anything let %s go out: %s', (subject, allowed) => {
    expect(permissions(null, null).maySendText(subject)).toBe(allowed);
  });

  it('add to what the hub allows and denies to be sent', () => {
    const of = permissions({ allow: ['up.>', 'de.>'], deny: ['up.no', 'up.q queue'] }, null);
    const sent = ['up.yes', 'up.no', 'up.q', 'de.x', 'de.x.y', 'other', '$JS.API.INFO'];
    expect(sent.filter((subject) => of.maySendText(subject))).toEqual(['up.yes', 'de.x.y']);
    expect(permissions({ allow: [] }, null).maySendText('x')).toBe(false);
  });

  it('add to what the hub allows and denies to be received', () => {
    const of = permissions(null, { allow: ['down.>', 'di.>'], deny: ['down.no'] });
    const got = [
      'down.yes',
      'down.no',
      'di.x',
      'di.x.y',
      'other',
      '$JS.API.X',
      '_R_.x',
      '$JS.ACK.x',
      '_GR_.a',
      '$GR.a',
    ];
    expect(got.filter((subject) => receives(of, subject))).toEqual([
      'down.yes',
      'di.x.y',
      '_R_.x',
      '$JS.ACK.x',
      '_GR_.a',
      '$GR.a',
    ]);
    expect(receives(permissions(null, { allow: [] }), 'x')).toBe(true);
  });

  it.each([
    ['i.x', true],
    ['i.>', true],
    ['>', true],
    ['*.x', true],
    ['o.o.*', true],
    ['o.o.o', false],
    ['z', false],
    ['di.x', false],
    ['di.*', false],
    ['di.>', true],
    ['$JS.API.>', false],
    ['q.x', false],
  ])('tell the hub of interest in %s, where it overlaps what is allowed: %s', (subject, told) => {
    const of = permissions(null, { allow: ['i.>', 'o.*.z', 'di.>', 'q.x queue'] });
    expect(of.mayAdvertise(subject)).toBe(told);
  });
});

describe('an INFO line of a hub', () => {
  it('has defaults for what it does not tell', () => {
    expect(readHubInfo('{}')).toEqual({
      serverId: '',
      serverName: '',
      cluster: '',
      domain: '',
      headers: false,
      tlsRequired: false,
      nonce: '',
      maxPayloadBytes: 0,
      clientId: 0,
      compression: '',
      infoOnConnect: false,
      connectInfo: false,
      remoteAccount: '',
      leafnodeUrls: null,
      webSocketUrls: [],
      exports: null,
      imports: null,
    });
  });

  it('tells subjects as bytes', () => {
    const info = readHubInfo('{"export":{"allow":["é.>"]},"import":{"deny":["b"]},"leafnode_urls":["h:1"]}');
    expect(info).toMatchObject({
      exports: { allow: ['\u00c3\u00a9.>'], deny: [] },
      imports: { allow: null, deny: ['b'] },
      leafnodeUrls: ['h:1'],
    });
  });

  it.each([
    ['{', /^invalid JSON in INFO: /],
    ['[]', /^INFO takes a JSON object$/],
    ['null', /^INFO takes a JSON object$/],
    ['{"headers":1}', /^INFO field headers is of the wrong type$/],
    ['{"client_id":"x"}', /^INFO field client_id /],
    ['{"leafnode_urls":[1]}', /^INFO field leafnode_urls /],
    ['{"export":{"allow":"x"}}', /^INFO field export /],
    ['{"import":[]}', /^INFO field import /],
  ])('is refused as a whole: %s', (json, problem) => {
    expect(readHubInfo(json)).toMatch(problem);
  });
});

// A device was somebody's, was sent mail as theirs, is a person of its own again, and is erased.
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import * as delivery from '../../src/delivery/delivery.ts';
import { keepContents } from '../../src/delivery/queries.ts';
import { exportPerson } from '../../src/profiles/export.ts';
import { unlinkPeople } from '../../src/profiles/profiles.ts';
import { journeysOf, mail, PROVIDER } from '../automations/journeys.ts';
import { beginOver, OWNER, sendsOf } from '../delivery/one_send.ts';
import { openErasable } from '../profiles/erasable.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

/** Two sends to one address, both leased and rendered: of a run of the person, and of one of their device. */
const opened = async () => {
  const erasable = openErasable(database);
  const { projectId, within, track, work, tell, join, idOfIdentity } = erasable;
  const journeys = journeysOf(database, projectId);
  const sends = sendsOf(database, projectId);
  const email = `${newId()}@x.org`;
  await journeys.activate({
    settings: { re_entry: 'every_time' },
    entry: 'mail',
    steps: { mail: mail() },
  });
  await tell('ann', { email });
  await track({ anonymous_id: 'device' });
  await work();
  const link = await join('device', 'ann');
  await track(
    { event: 'user_signed_up', external_id: 'ann' },
    { event: 'user_signed_up', anonymous_id: 'device' },
  );
  await work();
  await journeys.advance();
  const claimed = await sends.claim(PROVIDER);
  await within((scope) =>
    keepContents(
      scope,
      OWNER,
      claimed.map(({ send_id: sendId }) => ({ sendId, subject: 'Hi', html: 'Hi', text: 'Hi' })),
    ),
  );
  await within((scope) => unlinkPeople(scope, link.link_id, 'test'));
  const sendOf = async (kind: 'external' | 'anonymous', value: string) => {
    const { rows } = await database.owner.query<{ send_id: string; address_key: Buffer }>(
      'select send_id, address_key from delivery.sends where project_id = $1 and identity_id = $2',
      [projectId, await idOfIdentity(kind, value)],
    );
    if (!rows[0]) throw new Error('nothing was sent');
    return { sendId: rows[0].send_id, addressKey: rows[0].address_key };
  };
  const ofAnn = await sendOf('external', 'ann');
  const ofDevice = await sendOf('anonymous', 'device');
  const contents = async () =>
    (await journeys.select('send_id', 'delivery.contents')).map(({ send_id }) => send_id);
  return { ...erasable, journeys, sends, email, ofAnn, ofDevice, contents };
};

test('what was sent for the device goes with it, what was sent for the person stays', async () => {
  const { ask, run, sends, email, ofAnn, ofDevice, contents, journeys } = await opened();
  expect(new Set(await contents())).toEqual(new Set([ofAnn.sendId, ofDevice.sendId]));
  await run(await ask('device', 'anonymous'));
  expect(await sends.read(ofDevice.sendId)).toMatchObject({ status: 'cancelled', recipient: null });
  expect(await sends.read(ofAnn.sendId)).toMatchObject({ status: 'queued', recipient: email });
  expect(await contents()).toEqual([ofAnn.sendId]);
  expect(await journeys.select('step_id', 'automations.run_log')).toHaveLength(1);
  const addresses = await journeys.select('email', 'suppression.addresses');
  expect(addresses).toEqual([{ email }]);
});

test('no hand-off for the device begins from the moment its erase is asked for', async () => {
  const { projectId, ask, sends, ofAnn, ofDevice } = await opened();
  await ask('device', 'anonymous');
  const begin = (send: typeof ofAnn) => beginOver(database.owner, projectId, send);
  expect(await begin(ofDevice)).toBe('cancelled');
  expect(await sends.read(ofDevice.sendId)).toMatchObject({ status_reason: 'erased' });
  expect(await begin(ofAnn)).toBe('handing_off');
});

test('what was sent for the device is in its export without the address, and whole in Ann’s', async () => {
  const { projectId, idOf, email, ofAnn, ofDevice } = await opened();
  const sentIn = async (profileId: string): Promise<string[]> => {
    const rooms = { sections: [delivery.sendSection], erasers: [] };
    let text = '';
    for await (const piece of exportPerson(database.deps, projectId, profileId, rooms))
      text += piece;
    const { sends } = JSON.parse(text) as { sends: { id: string; to: string | null }[] };
    expect(text.includes(email)).toBe(profileId !== deviceId);
    return sends.map(({ id }) => id).toSorted();
  };
  const deviceId = await idOf('device', 'anonymous');
  expect(await sentIn(deviceId)).toEqual([ofDevice.sendId]);
  expect(await sentIn(await idOf('ann'))).toEqual([ofAnn.sendId, ofDevice.sendId].toSorted());
});

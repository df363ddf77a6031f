import { expect, test } from 'vitest';
import { SUPPRESSION_REASONS } from '../../src/suppression/queries.ts';
import { permutationsOf } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { addressIn } from './said.ts';

const database = testDatabase();

test('the strongest reason is shown, whichever came first, in the order that the code knows', async () => {
  for (const [weaker, stronger] of SUPPRESSION_REASONS.slice(1).map(
    (reason, at) => [SUPPRESSION_REASONS[at] ?? '', reason] as const,
  ))
    for (const order of permutationsOf([weaker, stronger])) {
      const ann = addressIn(database);
      for (const reason of order) await ann.suppress(reason);
      expect(await ann.row()).toMatchObject({ reason: stronger });
    }
});

test('a row that says so already is not written again', async () => {
  const ann = addressIn(database);
  await ann.suppress('manual');
  const version = async () =>
    (
      await database.owner.query('select xmin from suppression.addresses where project_id = $1', [
        ann.projectId,
      ])
    ).rows;
  const before = await version();
  await database.owner.query('select suppression.show_strongest($1, $2)', [ann.projectId, ann.key]);
  expect(await version()).toEqual(before);
});

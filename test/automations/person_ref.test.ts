import { expect, test } from 'vitest';
import { PersonRef } from '../../src/automations/person_ref.ts';
import { newId } from '../../src/base/ids.ts';

test('a person is named by the id of their profile, or by your own', () => {
  for (const ref of [newId(), 'external_id:ann', 'external_id:ann@people.test'])
    expect(PersonRef.parse(ref)).toBe(ref);
});

test('whatever names nobody is told both ways to name somebody', () => {
  for (const ref of ['ann', 'ann@people.test', '', 7])
    expect(PersonRef.safeParse(ref).error?.issues).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(/id of a profile \(a UUID\), or external_id:<your id>/),
      }),
    ]);
});

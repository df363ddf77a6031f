import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db } from '../base/db.ts';

const Found = z.strictObject({ is_found: z.boolean() });

/** Whether an account signed in from a device. `email` is in the form in which addresses are compared. */
export const isKnownDevice = async (
  db: Pick<Db, 'one'>,
  deviceHash: Buffer,
  email: string,
): Promise<boolean> => {
  const { is_found } = await db.one(sql.type(Found)`
    select exists (
      select from admin.known_devices as device
      join admin.people as person on person.person_id = device.person_id
      where device.device_hash = ${sql.binary(deviceHash)} and device.expires_at > now()
      and lower(person.email) = ${email}
    ) as is_found
  `);
  return is_found;
};

type Remembered = {
  personId: string;
  oldHash: Buffer | null;
  newHash: Buffer;
  livesForDays: number;
  devicesMax: number;
};

export const rememberDevice = (
  db: Pick<Db, 'query'>,
  { personId, oldHash, newHash, livesForDays, devicesMax }: Remembered,
) =>
  db.query(sql.unsafe`
    select admin.remember_device(
      person_id => ${personId}, old_hash => ${oldHash && sql.binary(oldHash)}, new_hash => ${sql.binary(newHash)},
      lives_for_days => ${livesForDays}, devices_max => ${devicesMax}
    )
  `);

/** Makes every device of a person unknown, except one. */
export const deleteOtherDevices = (
  tx: Pick<Db, 'query'>,
  personId: string,
  keptHash: Buffer | null,
) => {
  const but = keptHash ? sql.fragment`and device_hash <> ${sql.binary(keptHash)}` : sql.fragment``;
  return tx.query(sql.unsafe`delete from admin.known_devices where person_id = ${personId} ${but}`);
};

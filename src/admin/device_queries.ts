import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db } from '../base/db.ts';

const Known = z.strictObject({ device_id: z.uuid(), person_id: z.uuid() });

/** A device of an account. The id stays when the token of the device changes. */
export type KnownDevice = z.output<typeof Known>;

/** Returns a live device of an account. `account` is the address in the form in which addresses are compared. */
export const findKnownDevice = (db: Pick<Db, 'maybeOne'>, deviceHash: Buffer, account: string) =>
  db.maybeOne(sql.type(Known)`
    select device.device_id, device.person_id
    from admin.known_devices as device
    join admin.people as person on person.person_id = device.person_id
    where device.device_hash = ${sql.binary(deviceHash)} and device.expires_at > now()
    and lower(person.email) = ${account}
  `);

type Remembered = {
  personId: string;
  oldHash: Buffer | null;
  newHash: Buffer;
  livesForDays: number;
  devicesMax: number;
};

const Made = z.strictObject({ device_id: z.uuid() });

/** Returns the id of the device that has the new token from now on. */
export const rememberDevice = async (
  db: Pick<Db, 'one'>,
  { personId, oldHash, newHash, livesForDays, devicesMax }: Remembered,
): Promise<string> => {
  const { device_id } = await db.one(sql.type(Made)`
    select admin.remember_device(
      person_id => ${personId}, old_hash => ${oldHash && sql.binary(oldHash)}, new_hash => ${sql.binary(newHash)},
      lives_for_days => ${livesForDays}, devices_max => ${devicesMax}
    ) as device_id
  `);
  return device_id;
};

/** Makes every device of a person unknown, except the one of a session. */
export const deleteOtherDevices = (
  tx: Pick<Db, 'query'>,
  personId: string,
  keptSessionHash: Buffer | null,
) =>
  tx.query(sql.unsafe`
    delete from admin.known_devices as device
    where device.person_id = ${personId} and device.device_id is distinct from (
      select session.device_id from admin.sessions as session
      where session.session_hash = ${keptSessionHash && sql.binary(keptSessionHash)}
    )
  `);

/** Makes one device of a person unknown. */
export const deleteDevice = (tx: Pick<Db, 'query'>, personId: string, deviceId: string) =>
  tx.query(sql.unsafe`
    delete from admin.known_devices where person_id = ${personId} and device_id = ${deviceId}
  `);

import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db } from '../base/db.ts';

const Count = z.strictObject({ count: z.int() });

/** Says that a process lives now. */
export const beat = (db: Db, processId: string) =>
  db.query(sql.unsafe`
    insert into base.api_processes (process_id, heartbeat_at) values (${processId}, now())
    on conflict on constraint api_processes_pkey do update set heartbeat_at = excluded.heartbeat_at
  `);

export const countAlive = (db: Db, silentSeconds: number) =>
  db.one(sql.type(Count)`
    select count(*) as count from base.api_processes
    where heartbeat_at > now() - make_interval(secs => ${silentSeconds})
  `);

export const signOff = (db: Db, processId: string) =>
  db.query(sql.unsafe`delete from base.api_processes where process_id = ${processId}`);

/** Forgets processes that went without signing off. */
export const forgetSilent = (db: Db, silentSeconds: number) =>
  db.query(sql.unsafe`
    delete from base.api_processes where heartbeat_at < now() - make_interval(secs => ${silentSeconds})
  `);

/** A Citus cluster to run the main job on: its coordinator, as a superuser. Empty where there is none. */
export const CITUS_DATABASE_URL = process.env['CITUS_DATABASE_URL'] ?? '';

import { createProject } from '../../src/projects/projects.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { fillNextPiece } from '../../src/segments/turn.ts';
import { checkpoint, openInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import type { Comparison } from './measure.ts';
import { makeSegment } from './segments.ts';

const MEMBERS = 1_000_000;
const FEW_MEMBERS = 1_000;
const SECOND_MS = 1_000;

/** Makes a segment with so many members, each with the entry in its history. */
const fill = async (installation: Installation, members: number) => {
  const { deps, url } = installation;
  const project = await createProject(deps, `${members} members`);
  const { project_id: projectId } = project;
  const { segment_id: segmentId } = await makeSegment(installation, projectId, {
    where: { kind: 'trait', trait: 'plan', test: { is: 'exists' } },
  });
  while (await fillNextPiece(deps, projectId, new Date()));
  await withClient(url, async (client) => {
    // The rows are right: to check the keys of each takes minutes.
    await client.query('set session_replication_role = replica');
    await client.query(
      `insert into profiles.profiles (project_id, profile_id, traits, created_at, updated_at)
       select $1, gen_random_uuid(), '{"plan": "pro"}', now(), now() from generate_series(1, $2::integer)`,
      [projectId, members],
    );
    await client.query(
      `insert into segments.members (project_id, segment_id, profile_id, entered_at)
       select project_id, $2, profile_id, now() from profiles.profiles where project_id = $1`,
      [projectId, segmentId],
    );
    await client.query(
      `insert into segments.history (project_id, entry, segment_id, version, profile_id, change, cause, changed_at)
       select project_id, row_number() over (), $2, 1, profile_id, 'entered', 'fill', now()
       from profiles.profiles where project_id = $1`,
      [projectId, segmentId],
    );
    await client.query('vacuum analyze');
  });
  await checkpoint(url);
  return { projectId, segmentId, key: project.server_key };
};

/** Deletes it; then all rows, piece by piece. Milliseconds until the answer, and of the longest piece. */
const remove = async (installation: Installation, port: number, members: number) => {
  const { projectId, segmentId, key } = await fill(installation, members);
  const startedAt = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}/v1/segments/${segmentId}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${key}` },
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`the delete was answered ${response.status}`);
  const answer = performance.now() - startedAt;
  const pieces: number[] = [];
  for (let isMore = true; isMore;) {
    const at = performance.now();
    isMore = await fillNextPiece(installation.deps, projectId, new Date());
    pieces.push(performance.now() - at);
  }
  const all = Math.round(pieces.reduce((sum, one) => sum + one, 0) / SECOND_MS);
  console.log(`  ${members} members: ${pieces.length} pieces in ${all} s`);
  return { answer, piece: Math.max(...pieces) };
};

/** How long the delete of a segment with a million members takes to answer, and the longest piece of its job. */
export const deleteSegments = async (): Promise<Comparison[]> => {
  const installation = await openInstallation();
  const { port } = await installation.start('api');
  const few = await remove(installation, port, FEW_MEMBERS);
  const many = await remove(installation, port, MEMBERS);
  await installation.close();
  const row = (what: string, kind: keyof typeof many): Comparison => ({
    name: `${what} a segment with ${MEMBERS} members`,
    unit: 'ms',
    measured: [many[kind]],
    comparedWith: `a second; with ${FEW_MEMBERS} members: ${Math.round(few[kind])} ms`,
    comparison: [SECOND_MS],
    good: { atMost: 1 },
  });
  return [
    row('the answer to the delete of', 'answer'),
    row('the longest piece of the delete of', 'piece'),
  ];
};

import { Button, Group, Stack, Tabs, Text, TextInput } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { api, isNotFound } from '../api.ts';
import { useChange } from '../changes.ts';
import { BackToPerson, useAskedAbout } from '../parts/asked_about.tsx';
import { Back } from '../parts/back.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failed } from '../parts/failed.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { Leaving } from '../parts/leaving.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Loading } from '../parts/paged.tsx';
import { Refused } from '../parts/refused.tsx';
import { Builder, NEW_SEGMENT, useIsCountable } from '../parts/segment/builder.tsx';
import { Imports } from '../parts/segment/imports.tsx';
import { Members, SegmentHistory } from '../parts/segment/members.tsx';
import { SegmentState } from '../parts/segment/segment_state.tsx';
import { WhyNot } from '../parts/segment/why_not.tsx';
import { useSegment } from '../live_segments.ts';
import type { Segment, SegmentDefinition } from '../segment_queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/segments/$segmentId');

type Props = { projectId: string; known: Segment };

const Remove = ({ projectId, known }: Props) => {
  const [isSure, setIsSure] = useState(false);
  const navigate = useNavigate();
  const remove = useChange(projectId, ['segments'], async () => {
    await api.segments.remove.mutate({ projectId, segmentId: known.id });
    await navigate({ to: '/p/$projectId/segments', params: { projectId } });
  });
  return (
    <>
      <Button
        variant={isSure ? 'filled' : 'default'}
        color={isSure ? 'red' : 'gray'}
        loading={remove.isPending}
        onClick={() => (isSure ? remove.mutate(undefined) : setIsSure(true))}
      >
        {isSure ? 'Yes, delete it with its history' : 'Delete'}
      </Button>
      <Refused error={remove.error} />
    </>
  );
};

const Edit = ({ projectId, known }: Props) => {
  const kept = (known.definition as SegmentDefinition | null) ?? NEW_SEGMENT;
  const isStatic = known.kind === 'static';
  const [saved, setSaved] = useState({ name: known.name, definition: kept });
  const [typed, setTyped] = useState(saved);
  const seen = useRef(known.version);
  const isCountable = useIsCountable(projectId, typed.definition);
  const isDirty = typed.name !== saved.name || typed.definition !== saved.definition;
  const save = useChange(projectId, ['segments'], async () => {
    const { version } = await api.segments.change.mutate({
      projectId,
      segmentId: known.id,
      change: {
        version: seen.current,
        ...(typed.name === saved.name ? {} : { name: typed.name.trim() }),
        ...(typed.definition === saved.definition ? {} : { definition: typed.definition }),
      },
    });
    seen.current = version;
    setSaved(typed);
  });
  return (
    <Stack>
      <Leaving isDirty={isDirty} />
      <Group align="flex-end">
        <TextInput
          label="Name"
          value={typed.name}
          onChange={(event) => setTyped({ ...typed, name: event.currentTarget.value })}
          flex={1}
          maw={420}
          miw={200}
        />
        <ForRole projectId={projectId} role="editor" to="to change it">
          <Button
            loading={save.isPending}
            disabled={!isDirty || typed.name.trim() === '' || !(isStatic || isCountable)}
            onClick={() => save.mutate(undefined)}
          >
            Save
          </Button>
          <Remove projectId={projectId} known={known} />
        </ForRole>
      </Group>
      <Refused error={save.error} />
      {isStatic ? (
        <ForRole projectId={projectId} role="editor">
          <Imports projectId={projectId} segmentId={known.id} />
        </ForRole>
      ) : (
        <Builder
          projectId={projectId}
          definition={typed.definition}
          onChange={(definition) => setTyped({ ...typed, definition })}
        />
      )}
    </Stack>
  );
};

type WhyProps = { projectId: string; segmentId: string; personId: string | undefined };

/** About whom, says the address: so that one can come here with somebody, and hand on what one sees. */
const Why = ({ projectId, segmentId, personId }: WhyProps) => {
  const navigate = route.useNavigate();
  const person = useAskedAbout(projectId, personId);
  return (
    <WhyNot
      key={person?.id ?? 'nobody'}
      projectId={projectId}
      segmentId={segmentId}
      person={person}
      onPerson={(next) => void navigate({ search: { person: next?.id }, replace: true })}
    />
  );
};

type KnownProps = Props & { personId: string | undefined };

const Known = ({ projectId, known, personId }: KnownProps) => (
  <>
    <Group justify="space-between" align="flex-start">
      <PageTitle title={known.name} />
      <Group>
        <Text fw={600} className="number" role="status" aria-label="Members">
          {known.is_capped && 'over '}
          {known.members === 1 ? '1 person' : `${known.members.toLocaleString()} people`}
        </Text>
        <SegmentState segment={known} />
      </Group>
    </Group>
    <Tabs defaultValue={personId === undefined ? 'definition' : 'why'} keepMounted>
      <Tabs.List mb="md">
        <Tabs.Tab value="definition">{known.kind === 'static' ? 'Lists' : 'Conditions'}</Tabs.Tab>
        <Tabs.Tab value="members">Members</Tabs.Tab>
        <Tabs.Tab value="history">History</Tabs.Tab>
        <Tabs.Tab value="why">Why not?</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="definition">
        <Edit key={known.id} projectId={projectId} known={known} />
      </Tabs.Panel>
      <Tabs.Panel value="members" keepMounted={false}>
        <Members projectId={projectId} segmentId={known.id} />
      </Tabs.Panel>
      <Tabs.Panel value="history" keepMounted={false}>
        <SegmentHistory projectId={projectId} segmentId={known.id} />
      </Tabs.Panel>
      <Tabs.Panel value="why" keepMounted={false}>
        <Why projectId={projectId} segmentId={known.id} personId={personId} />
      </Tabs.Panel>
    </Tabs>
  </>
);

export const SegmentPage = () => {
  const { projectId, segmentId } = route.useParams();
  const { person: personId } = route.useSearch();
  const person = useAskedAbout(projectId, personId);
  const { data, isPending, error } = useSegment(projectId, segmentId);
  return (
    <Stack>
      <Group gap="md">
        <Back to="/p/$projectId/segments" projectId={projectId} label="Segments" />
        {person && <BackToPerson projectId={projectId} person={person} />}
      </Group>
      {isPending && <Loading />}
      {isNotFound(error) && (
        <Empty isPage title="There is no such segment">
          Look in the list.
        </Empty>
      )}
      {error !== null && !isNotFound(error) && !data && <Failed error={error} />}
      {data && <Known key={segmentId} projectId={projectId} known={data} personId={personId} />}
    </Stack>
  );
};

import { Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../api.ts';
import { useChange } from '../changes.ts';
import { Back } from '../parts/back.tsx';
import { Leaving } from '../parts/leaving.tsx';
import { MayKeep } from '../parts/for_role.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Refused } from '../parts/refused.tsx';
import { Builder, NEW_SEGMENT, useIsCountable } from '../parts/segment/builder.tsx';

const route = getRouteApi('/signed-in/p/$projectId/segments/new');

export const NewSegmentPage = () => {
  const { projectId } = route.useParams();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [isStatic, setIsStatic] = useState(false);
  const [definition, setDefinition] = useState(NEW_SEGMENT);
  const isCountable = useIsCountable(projectId, definition);
  const make = useChange(projectId, ['segments'], async () => {
    const made = await api.segments.create.mutate({
      projectId,
      name: name.trim(),
      ...(isStatic ? {} : { definition }),
    });
    const params = { projectId, segmentId: made.id };
    await navigate({ to: '/p/$projectId/segments/$segmentId', params });
  });
  const isDirty = name !== '' || definition !== NEW_SEGMENT;
  return (
    <Stack>
      <Leaving isDirty={isDirty && !make.isPending && !make.isSuccess} />
      <Back to="/p/$projectId/segments" projectId={projectId} label="Segments" />
      <PageTitle title="New segment" />
      <MayKeep projectId={projectId} />
      <Group align="flex-end">
        <TextInput
          label="Name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          flex={1}
          maw={420}
          miw={200}
        />
        <SegmentedControl
          aria-label="Kind"
          data={[
            { value: 'dynamic', label: 'By conditions' },
            { value: 'static', label: 'By lists' },
          ]}
          value={isStatic ? 'static' : 'dynamic'}
          onChange={(kind) => setIsStatic(kind === 'static')}
        />
        <Button
          loading={make.isPending}
          disabled={name.trim() === '' || !(isStatic || isCountable)}
          onClick={() => make.mutate(undefined)}
        >
          Create
        </Button>
      </Group>
      <Refused error={make.error} />
      {isStatic ? (
        <Text size="sm" c="dimmed">
          Its people come from lists that you import, once it is there.
        </Text>
      ) : (
        <Builder projectId={projectId} definition={definition} onChange={setDefinition} />
      )}
    </Stack>
  );
};

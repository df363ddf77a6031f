import { Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { api, issuesOf } from '../api.ts';
import { useOwnChange } from '../changes.ts';
import type { AccessRequest, Role } from '../people_queries.ts';
import { projects } from '../queries.ts';
import { fieldOf } from './form.ts';
import { roleChoices } from './invite_form.tsx';
import { Refused } from './refused.tsx';

const NEW = 'new';
type Place = { projectId: string } | { newProject: string };
type Props = {
  request: AccessRequest;
  onApproved: (link: { path: string; email: string }) => void;
};

type PlaceProps = {
  name: string;
  place: string;
  onPlace: (place: string) => void;
  issue: string | undefined;
};

/** A project that is there, or the name of a new one. */
const Into = ({ name, place, onPlace, issue }: PlaceProps) => {
  const { data } = useQuery(projects);
  const known = (data?.items ?? []).map((one) => ({ value: one.id, label: one.name }));
  return (
    <>
      <Select
        label="Into"
        data={[{ value: NEW, label: 'A new project' }, ...known]}
        value={place}
        onChange={(chosen) => onPlace(chosen ?? NEW)}
        allowDeselect={false}
        searchable
        flex={1}
        miw={200}
      />
      {place === NEW && (
        <TextInput
          name="newProject"
          label="Its name"
          defaultValue={`${name}’s project`}
          error={issue}
          flex={1}
          miw={200}
        />
      )}
    </>
  );
};

/** Lets somebody into a project, new or there, or says no. */
export const DecideRequest = ({ request: { id, email, name }, onApproved }: Props) => {
  const [place, setPlace] = useState<string>(NEW);
  const [role, setRole] = useState<Role>('owner');
  const approve = useOwnChange(['access', 'projects'], async (where: Place) => {
    const { path } = await api.access.approve.mutate({ accessRequestId: id, role, ...where });
    onApproved({ path, email });
  });
  const refuse = useOwnChange(['access'], () => api.access.refuse.mutate({ accessRequestId: id }));
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const newProject = fieldOf(event.currentTarget, 'newProject').trim();
    approve.mutate(place === NEW ? { newProject } : { projectId: place });
  };
  const issue = issuesOf(approve.error)['newProject'];
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Group align="flex-start" gap="sm">
          <Into name={name} place={place} onPlace={setPlace} issue={issue} />
          <Select
            label="As"
            data={roleChoices}
            value={role}
            onChange={(chosen) => setRole((chosen ?? 'owner') as Role)}
            allowDeselect={false}
            flex={1}
            miw={200}
          />
        </Group>
        <Refused error={approve.error ?? refuse.error} fields={['newProject']} />
        <Group gap="sm">
          <Button type="submit" loading={approve.isPending}>
            Let them in
          </Button>
          <Button
            variant="default"
            loading={refuse.isPending}
            onClick={() => refuse.mutate(undefined)}
          >
            Refuse
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

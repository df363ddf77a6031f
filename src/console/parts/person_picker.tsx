import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Profile } from '../api.ts';
import { foundProfiles } from '../queries.ts';
import { nameOf } from './profile_name.ts';

const SEARCH_AFTER_MS = 250;

type Props = {
  projectId: string;
  label: string;
  /** Who is picked, where somebody else keeps that. */
  picked?: Profile | null;
  onPick: (profile: Profile | null) => void;
  description?: string;
  clearable?: boolean;
};

const toLabel = (profile: Profile): string =>
  profile.email === null || profile.email === nameOf(profile)
    ? nameOf(profile)
    : `${nameOf(profile)} · ${profile.email}`;

/** Somebody, found by what events call them, their address or their profile id. */
export const PersonPicker = ({
  projectId,
  label,
  onPick,
  description,
  clearable,
  ...kept
}: Props) => {
  const [typed, setTyped] = useState(kept.picked ? toLabel(kept.picked) : '');
  const [own, setPicked] = useState<Profile | null>(null);
  const picked = kept.picked === undefined ? own : kept.picked;
  const [query] = useDebouncedValue(typed.trim(), SEARCH_AFTER_MS);
  const isAsking = query !== '' && query !== (picked && toLabel(picked));
  const found = useQuery({
    ...foundProfiles(projectId, isAsking ? query : ''),
    placeholderData: keepPreviousData,
  });
  const hits = isAsking ? (found.data?.items ?? []) : [];
  const people = [...(picked ? [picked] : []), ...hits.filter(({ id }) => id !== picked?.id)];
  return (
    <Select
      label={label}
      description={description}
      placeholder="External id, address or profile id"
      data={people.map((profile) => ({ value: profile.id, label: toLabel(profile) }))}
      filter={({ options }) => options}
      value={picked?.id ?? null}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      onChange={(id) => {
        const profile = people.find((one) => one.id === id) ?? null;
        setPicked(profile);
        onPick(profile);
      }}
      nothingFoundMessage={
        query === ''
          ? 'Type the whole of it'
          : found.isFetching
            ? 'Looking …'
            : 'Nobody by that name; it must be complete'
      }
      clearable={clearable ?? false}
      allowDeselect={false}
    />
  );
};

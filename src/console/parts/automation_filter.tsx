import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isNotFound } from '../api.ts';
import { automation, automationChoices } from '../automation_queries.ts';

type Props = {
  projectId: string;
  /** The id of the chosen one. */
  chosen: string | undefined;
  onChoose: (automationId: string | undefined) => void;
  width: number;
};

/** Chooses one of the project's automations; asks for them only once somebody wants to see them. */
export const AutomationFilter = ({ projectId, chosen, onChoose, width }: Props) => {
  const [isWanted, setIsWanted] = useState(false);
  const { data: choices } = useQuery({ ...automationChoices(projectId), enabled: isWanted });
  const { data: own, error } = useQuery({
    ...automation(projectId, chosen ?? ''),
    enabled: chosen !== undefined,
    refetchInterval: false,
  });
  const isOther = own !== undefined && !choices?.items.some(({ id }) => id === own.id);
  const isDeleted = chosen !== undefined && isNotFound(error);
  const known = [
    ...(isOther ? [own] : []),
    ...(isDeleted ? [{ id: chosen, name: 'A deleted automation' }] : []),
    ...(choices?.items ?? []),
  ];
  return (
    <Select
      label="Automation"
      placeholder="Every automation"
      w={{ base: '100%', sm: width }}
      data={known.map(({ id, name }) => ({ value: id, label: name }))}
      value={chosen ?? null}
      onChange={(id) => onChoose(id ?? undefined)}
      onDropdownOpen={() => setIsWanted(true)}
      nothingFoundMessage={isWanted && choices === undefined ? 'Loading …' : 'None of that name'}
      searchable
      clearable
    />
  );
};

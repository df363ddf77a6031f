import { Anchor, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { UseQueryOptions } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import {
  endpointChoices,
  providerChoices,
  segmentChoices,
  templateChoices,
} from '../../automation_queries.ts';

type Props = {
  label: string;
  value: string;
  onChange: (id: string) => void;
  error?: string | undefined;
  description?: ReactNode;
};
type Items = { value: string; label: string }[];

/** What has not been chosen yet is no mistake that needs more words. */
const errorOf = ({ value, error }: Props): string | undefined =>
  error !== undefined && value === '' ? 'choose one' : error;

const Choice = (props: Props & { items: Items | undefined; none: string }) => {
  const { items, none, label, value, onChange, description } = props;
  const isKnown = value === '' || items === undefined || items.some((one) => one.value === value);
  const data = isKnown ? (items ?? []) : [...items, { value, label: `not there: ${value}` }];
  return (
    <Select
      label={label}
      description={description}
      data={data}
      value={value === '' ? null : value}
      onChange={(id) => id !== null && onChange(id)}
      error={errorOf(props)}
      placeholder={items?.length === 0 ? none : 'Choose'}
      searchable
      allowDeselect={false}
      nothingFoundMessage={none}
    />
  );
};

type Named = { id: string; name: string };
const useItems = <T,>(
  options: UseQueryOptions<T, Error, T, never[]> | object,
  toItems: (data: T) => Items,
): Items | undefined => {
  const { data } = useQuery(options as UseQueryOptions<T>);
  return data === undefined ? undefined : toItems(data);
};

const toNamed = ({ items }: { items: Named[] }): Items =>
  items.map(({ id, name }) => ({ value: id, label: name }));

export const TemplateChoice = ({ projectId, ...props }: Props & { projectId: string }) => (
  <Choice
    {...props}
    items={useItems(templateChoices(projectId), toNamed)}
    none="No template yet: make one under Templates"
  />
);

export const SegmentChoice = ({ projectId, ...props }: Props & { projectId: string }) => (
  <Choice
    {...props}
    items={useItems(segmentChoices(projectId), toNamed)}
    none="No segment yet: make one under Segments"
  />
);

export const EndpointChoice = ({ projectId, ...props }: Props & { projectId: string }) => (
  <Choice
    {...props}
    items={useItems(endpointChoices(projectId), toNamed)}
    none="No endpoint yet: make one by POST /v1/webhook-endpoints"
  />
);

type Provider = { id: string; display_name: string; from_email: string };
export const ProviderChoice = ({ projectId, ...props }: Props & { projectId: string }) => (
  <Choice
    {...props}
    items={useItems(providerChoices(projectId), ({ items }: { items: Provider[] }) =>
      items.map(({ id, display_name, from_email }) => ({
        value: id,
        label: `${from_email} · ${display_name}`,
      })),
    )}
    none="No provider yet: connect one under Email providers"
  />
);

/** A way to what there is to choose from, beside it. */
export const Aside = ({ href, children }: { href: string; children: ReactNode }) => (
  <Anchor href={href} target="_blank" rel="noreferrer" size="xs">
    {children}
  </Anchor>
);

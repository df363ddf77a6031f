import {
  Center,
  Input,
  Loader,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { Suspense } from 'react';
import { partOf } from '../../load.ts';
import type { Fault, Part, Typed } from './draft.ts';

const CodeEditor = partOf(() => import('../code/code_editor.tsx'));

const FORMATS = [
  { value: 'html', label: 'HTML' },
  { value: 'mjml', label: 'MJML' },
];

const FIRST_MJML = `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text font-size="20px">Hello {{ profile.first_name | default: "there" }}</mj-text>
        <mj-text><a href="{{ unsubscribe_url }}">Unsubscribe</a></mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;

type Props = {
  typed: Typed;
  onType: (change: Partial<Typed>) => void;
  faults: readonly Fault[];
};

const Wrong = ({ faults }: { faults: readonly Fault[] }) =>
  faults.map(({ message }) => (
    <Text key={message} size="sm" c="red" role="alert" className="breaks">
      {message}
    </Text>
  ));

const Body = ({ typed, onType, faults }: Props) => (
  <Input.Wrapper
    label="Body"
    description="Liquid: {{ profile.first_name | default: “there” }}, {{ event.plan }}, {{ unsubscribe_url }}"
    labelElement="div"
  >
    <Stack gap="xs" mt={6}>
      <SegmentedControl
        size="xs"
        aria-label="Format of the body"
        style={{ alignSelf: 'flex-start' }}
        data={FORMATS}
        value={typed.format}
        onChange={(format) => {
          const isMjml = format === 'mjml';
          const isOther = isMjml && !typed.body.includes('<mjml');
          onType({
            format: isMjml ? 'mjml' : 'html',
            ...(isOther ? { body: FIRST_MJML } : {}),
          });
        }}
      />
      <Suspense
        fallback={
          <Center h={300}>
            <Loader role="progressbar" aria-label="Loading" />
          </Center>
        }
      >
        <CodeEditor
          label="Body"
          language="html"
          value={typed.body}
          onChange={(body) => onType({ body })}
          minHeight="320px"
          maxHeight="60vh"
          wrongLines={faults.flatMap(({ line }) => line ?? [])}
        />
      </Suspense>
      <Wrong faults={faults} />
    </Stack>
  </Input.Wrapper>
);

/** What a mail says, part by part, and what is wrong with each. */
export const TemplateFields = ({ typed, onType, faults }: Props) => {
  const of = (part: Part) => faults.filter((fault) => fault.part === part);
  const errorOf = (part: Part) => of(part)[0]?.message;
  return (
    <Stack gap="md">
      <TextInput
        label="Name"
        description="For you: readers do not see it"
        value={typed.name}
        onChange={(event) => onType({ name: event.currentTarget.value })}
        error={errorOf('name')}
      />
      <TextInput
        label="Subject"
        value={typed.subject}
        onChange={(event) => onType({ subject: event.currentTarget.value })}
        error={errorOf('subject')}
      />
      <TextInput
        label="Preheader"
        description="What inboxes show after the subject"
        value={typed.preheader}
        onChange={(event) => onType({ preheader: event.currentTarget.value })}
        error={errorOf('preheader')}
      />
      <Body typed={typed} onType={onType} faults={of('body')} />
      <Textarea
        label="Text"
        description="Left empty: made from the HTML"
        value={typed.text}
        onChange={(event) => onType({ text: event.currentTarget.value })}
        error={errorOf('text')}
        autosize
        minRows={3}
        maxRows={12}
        styles={{ input: { fontFamily: 'monospace' } }}
      />
      <Wrong faults={[...of('sample'), ...of('other')]} />
    </Stack>
  );
};

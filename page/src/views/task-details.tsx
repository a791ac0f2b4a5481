// The fields of a task as a list of terms.

import type { ComponentChildren } from 'preact'
import { usageOf } from '../../../src/entities/message.ts'
import { clockTime, counted, duration, tokensText } from '../model/format.ts'
import type { TaskSnapshot } from '../model/history.ts'
import { linkTo } from '../model/route.ts'
import type { Message, ShownTask, TaskRow } from '../model/wire.ts'
import { LongText, Section, Time, useNow } from './elements.tsx'
import { TaskLink } from './fork-form.tsx'

interface DetailsProps {
  task: ShownTask['task']
  row: TaskRow | undefined
  snapshot: TaskSnapshot | undefined
  inPast: boolean
  messages: readonly Message[]
  /** Ids. */
  forks: readonly string[]
}

export function Details({ task, row, snapshot, inPast, messages, forks }: DetailsProps) {
  const now = useNow(5_000)
  const attempt = inPast ? snapshot?.attempt : task.attempt
  const run = inPast ? snapshot?.run : task.run
  const terms: Array<[string, ComponentChildren]> = [
    ['Goal', task.goal === null ? null : <LongText text={task.goal} label="the goal" limit={200} />],
    ['Executor', task.executor ?? (task.group ? 'none: it is a group' : 'none: an agent or a person claims it')],
    ['Owner', task.owner],
    ['Role', task.role],
    ['Priority', task.priority],
    ['Generation', inPast || task.generation === 1 ? null : task.generation],
    ['Attempt', attempt],
    ['Run', run],
    ['Tokens', modelSteps(messages)],
    ['Tags', task.tags.length === 0 ? null : task.tags.join(', ')],
    ['Forked from', task.forkedFrom === null ? null : <TaskLink key="original" id={task.forkedFrom} />],
    ['Forks', forks.length === 0 || inPast ? null : <Links key="forks" ids={forks} />],
    ['Key', task.key],
    ['Created', <Time key="created" at={task.createdAt} />],
    ['Changed', inPast ? null : <Time key="changed" at={row?.updatedAt ?? task.updatedAt} now={now} />],
    ['Ended', task.completedAt === null || inPast ? null : <Time key="ended" at={task.completedAt} />],
    [
      'Took',
      task.completedAt === null || inPast ? null : duration(task.completedAt - (task.startedAt ?? task.createdAt)),
    ],
    ['Not before', task.notBefore === null ? null : clockTime(task.notBefore)],
    ['Deadline', task.deadline === null ? null : <Time key="deadline" at={task.deadline} />],
    ['Version', inPast ? null : task.version],
  ]
  return (
    <Section title="Details">
      <dl class="facts">
        {terms
          .filter(([, value]) => value !== null && value !== undefined)
          .map(([term, value]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <p>
        <a href={linkTo({ view: 'new', parentId: task.id })}>Create a task below it</a>
      </p>
    </Section>
  )
}

function Links({ ids }: { ids: readonly string[] }) {
  return (
    <>
      {ids.map((id, index) => (
        <span key={id}>
          {index === 0 ? '' : ', '}
          <TaskLink id={id} />
        </span>
      ))}
    </>
  )
}

/** `3 steps of m: 36 tokens in, 24 out`; null without a step of a model. */
function modelSteps(messages: readonly Message[]): string | null {
  const usage = usageOf(messages)
  if (usage === undefined) return null
  const models = [...new Set(messages.flatMap(({ step }) => step?.modelId ?? []))].filter((id) => id !== '')
  return `${counted(usage.steps, 'step')} of ${models.join(', ') || 'its model'}: ${tokensText(usage) || 'unknown'}`
}

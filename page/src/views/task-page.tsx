// The page of one task: its fields, state and reason, path, conversation, relations and actions.

import { useEffect, useState } from 'preact/hooks'
import type { TaskSession } from '../live/task-session.ts'
import { pathTaken, standingAfter, upTo } from '../model/history.ts'
import { type Action, actions, actionWords, isQueued, isSettled, whyNot } from '../model/lifecycle.ts'
import { linkTo } from '../model/route.ts'
import { clockTime, counted, duration } from '../model/time-words.ts'
import type { Question, ShownTask, Task, TaskRow, TaskStatus } from '../model/wire.ts'
import { followRows, link, past, session, storeShown } from '../state.ts'
import { ActionDialog } from './action-dialog.tsx'
import { CopyButton, LongText, ProblemBox, Section, StateBadge, Time, useFocusOnOpen, useNow } from './elements.tsx'
import { EventList } from './event-list.tsx'
import { FactList } from './fact-list.tsx'
import { FamilyGraph } from './family-graph.tsx'
import { JsonTree } from './json-tree.tsx'
import { Scrubber } from './scrubber.tsx'
import { StateChart } from './state-chart.tsx'
import { Conversation } from './task-conversation.tsx'
import { TaskTimeline } from './task-timeline.tsx'
import { hasTeam, TeamView } from './team-view.tsx'

export function TaskPage() {
  const open = session.value
  if (open === null) return null
  const shown = open.shown.value
  const problem = open.problem.value
  if (shown === null) {
    return (
      <main class="task-page" id="main" tabIndex={-1}>
        <h1>Task</h1>
        {problem === null ? (
          <p class="note">Reading…</p>
        ) : (
          <ProblemBox problem={problem}>
            <p>
              <a href="#/">All tasks</a>
            </p>
          </ProblemBox>
        )}
      </main>
    )
  }
  return <Opened key={open.id} open={open} shown={shown} />
}

function Opened({ open, shown }: { open: TaskSession; shown: ShownTask }) {
  const [action, setAction] = useState<Action | null>(null)
  useFocusOnOpen()
  useEffect(() => {
    document.title = `${shown.task.name.slice(0, 80)} · errand`
  }, [shown.task.name])
  followRows()
  const position = past.value?.seq ?? null
  const events = upTo(open.events.value, position)
  const standing = standingAfter(events)
  const inPast = position !== null
  const { task } = shown
  if (inPast && standing === undefined) return <NotYet name={task.name} />
  // The feed reports a new state before the task has been read again.
  const status: TaskStatus = inPast
    ? (standing?.status ?? task.status)
    : (link.store.rows.get(task.id)?.status ?? task.status)
  const row = link.store.rows.get(task.id)
  const queued = !inPast && row !== undefined && isQueued(row)
  const until = past.value?.at ?? null
  const isKnown = ({ at }: { at: number }) => until === null || at <= until
  const calls = open.calls.value.filter(({ createdAt }) => isKnown({ at: createdAt }))
  const runs = open.runs.value.filter(({ startedAt }) => isKnown({ at: startedAt }))
  const messages = open.messages.value.filter(({ timestamp }) => isKnown({ at: timestamp }))
  const team = open.team.value
  const path = pathTaken(events)
  return (
    <main class={`task-page${inPast ? ' in-past' : ''}`} id="main" tabIndex={-1}>
      <Head task={task} status={status} queued={queued} name={inPast ? (standing?.name ?? task.name) : task.name} />
      <div class="task-tools">
        <ActionBar status={status} disabled={inPast} onAction={setAction} />
        <Scrubber />
      </div>
      {open.problem.value === null ? null : <ProblemBox problem={open.problem.value} />}
      {inPast ? <p class="hint">As it stood at event {standing?.seq}. Actions are possible now, not then.</p> : null}
      {inPast ? null : <Standing open={open} task={task} status={status} onAnswer={() => setAction('answer')} />}
      <div class="columns">
        <div class="main-column">
          <Section title="Timeline" note={`${counted(runs.length, 'run')}, ${counted(calls.length, 'call')}`}>
            <TaskTimeline
              runs={runs}
              calls={calls}
              events={events}
              until={until ?? (isSettled(status) ? endOf(task) : null)}
            />
          </Section>
          <Section title="Conversation" note={counted(messages.length, 'message')}>
            <Conversation messages={messages} calls={calls} live={inPast ? new Map() : open.liveTexts.value} />
          </Section>
          <Section title="State chart" note={counted(path.length, 'transition')}>
            <StateChart status={status} path={path} />
          </Section>
          <Section title="Family and dependencies">
            <Family shown={shown} />
          </Section>
          <Section title="History" note={counted(events.length, 'event')}>
            <EventList events={events} />
          </Section>
        </div>
        <div class="side-column">
          <Facts task={task} row={storeShown().rows.get(task.id)} standing={standing} inPast={inPast} />
          <Section title="Input">
            <JsonTree value={task.input} label="input" />
          </Section>
          {task.completedAt !== null && !inPast && task.error === null ? (
            <Section title="Result">
              <JsonTree value={task.result} label="result" />
            </Section>
          ) : null}
          {(inPast ? standing?.error : task.error) == null ? null : (
            <Section title="Error">
              <JsonTree value={inPast ? standing?.error : task.error} label="error" />
            </Section>
          )}
          {hasTeam(team) ? (
            <Section title="Team">
              <TeamView context={team} />
            </Section>
          ) : null}
          {open.facts.value.length === 0 || inPast ? null : (
            <Section
              title="Facts"
              note={`${open.facts.value.length}${open.olderFacts.value === null ? '' : ' and more'}`}
            >
              <FactList open={open} />
            </Section>
          )}
          {Object.keys(task.metadata).length === 0 ? null : (
            <Section title="Metadata">
              <JsonTree value={task.metadata} label="metadata" />
            </Section>
          )}
        </div>
      </div>
      {action === null ? null : (
        <ActionDialog action={action} shown={shown} onClose={() => setAction(null)} onDone={() => void open.read()} />
      )}
    </main>
  )
}

function endOf(task: Task): number {
  return task.completedAt ?? task.updatedAt
}

function NotYet({ name }: { name: string }) {
  return (
    <main class="task-page in-past" id="main" tabIndex={-1}>
      <h1>{name}</h1>
      <Scrubber />
      <p class="hint">It had not been created yet.</p>
    </main>
  )
}

const maxTitleLength = 160

interface HeadProps {
  task: Task
  status: TaskStatus
  queued: boolean
  name: string
}

function Head({ task, status, queued, name }: HeadProps) {
  return (
    <header class="task-head">
      <nav aria-label="Breadcrumb" class="crumbs">
        <a href="#/">All tasks</a>
        {ancestorsOf(task).map((row) => (
          <a key={row.id} href={linkTo({ view: 'task', id: row.id })}>
            {row.name.slice(0, 60)}
          </a>
        ))}
      </nav>
      <div class="title-line">
        <h1>
          <LongText text={name === '' ? task.id : name} label="the name" limit={maxTitleLength} />
        </h1>
        <StateBadge status={status} queued={queued} />
      </div>
      <p class="ids">
        <code>#{task.seq}</code> <code>{task.id}</code> <CopyButton text={task.id} label="Copy the id" />
      </p>
      {task.description === '' ? null : (
        <p class="description">
          <LongText text={task.description} label="the description" limit={300} />
        </p>
      )}
    </header>
  )
}

const maxAncestors = 6

function ancestorsOf(task: Task): TaskRow[] {
  const above: TaskRow[] = []
  let id = task.parentId
  while (id !== null && above.length < maxAncestors) {
    const row = link.store.rows.get(id)
    if (row === undefined) break
    above.unshift(row)
    id = row.parentId
  }
  return above
}

/** Start and answer are only shown when they are possible. */
function shownActions(status: TaskStatus): readonly Action[] {
  return actions.filter((action) => {
    if (action === 'start') return status === 'submitted'
    if (action === 'answer') return status === 'input_required'
    return true
  })
}

function ActionBar({
  status,
  disabled,
  onAction,
}: {
  status: TaskStatus
  disabled: boolean
  onAction: (action: Action) => void
}) {
  return (
    <div class="actions" role="toolbar" aria-label="Actions">
      {shownActions(status).map((action) => {
        const reason = disabled ? 'Return to now first.' : whyNot(action, { status })
        return (
          <button
            type="button"
            key={action}
            class={action === 'cancel' ? 'danger' : action === 'answer' ? 'primary' : ''}
            disabled={reason !== null}
            title={reason ?? ''}
            onClick={() => onAction(action)}
          >
            {actionWords[action]}
          </button>
        )
      })}
    </div>
  )
}

interface StandingProps {
  open: TaskSession
  task: Task
  status: TaskStatus
  onAnswer: () => void
}

/** The reason for the state of the task, and its questions. */
function Standing({ open, task, status, onAnswer }: StandingProps) {
  const why = open.why.value
  return (
    <div class={`standing state-${status}`}>
      {task.questions.map((question) => (
        <OpenQuestion key={question.id} question={question} onAnswer={onAnswer} />
      ))}
      {task.progress === null || isSettled(status) ? null : (
        <p>
          <progress max={1} value={task.progress.fraction} aria-label="Progress" />{' '}
          {Math.round(task.progress.fraction * 100)} %{task.progress.note === null ? '' : ` ${task.progress.note}`}
        </p>
      )}
      {why === null || (why.reason === 'answer' && task.questions.length > 0) ? null : (
        <p class="why-message">
          <span class="why-reason">{why.reason}</span> <LongText text={why.message} label="the reason" limit={400} />
          {why.tasks.slice(0, 8).map((id) => {
            const row = link.store.rows.get(id)
            return row === undefined || id === task.id ? null : (
              <a key={id} href={linkTo({ view: 'task', id })} class="chip">
                {row.name.slice(0, 40)}
              </a>
            )
          })}
        </p>
      )}
    </div>
  )
}

function OpenQuestion({ question, onAnswer }: { question: Question; onAnswer: () => void }) {
  return (
    <div class="question">
      <p>
        <LongText text={question.question} label="the question" />
      </p>
      <button type="button" class="primary" onClick={onAnswer} aria-label={`Answer: ${question.question.slice(0, 80)}`}>
        Answer…
      </button>
    </div>
  )
}

function Family({ shown }: { shown: ShownTask }) {
  const store = storeShown()
  const { task, dependencies, dependents } = shown
  const own = store.rows.get(task.id)
  if (own === undefined) return <p class="note">It is not among the tasks that this page holds.</p>
  const fresh = (row: TaskRow) => store.rows.get(row.id) ?? row
  const children = [...(store.children.get(task.id) ?? [])].flatMap((id) => store.rows.get(id) ?? [])
  return (
    <FamilyGraph
      own={own}
      parent={task.parentId === null ? undefined : store.rows.get(task.parentId)}
      children={children.sort((a, b) => a.seq - b.seq)}
      dependencies={dependencies.map(fresh)}
      dependents={dependents.map(fresh)}
    />
  )
}

interface FactsProps {
  task: ShownTask['task']
  row: TaskRow | undefined
  standing: ReturnType<typeof standingAfter>
  inPast: boolean
}

function Facts({ task, row, standing, inPast }: FactsProps) {
  const now = useNow(5_000)
  const attempt = inPast ? standing?.attempt : task.attempt
  const run = inPast ? standing?.run : task.run
  const facts: Array<[string, preact.ComponentChildren]> = [
    ['Goal', task.goal === null ? null : <LongText text={task.goal} label="the goal" limit={200} />],
    ['Executor', task.executor ?? (task.group ? 'a group, works by its children' : 'none, worked on from outside')],
    ['Owner', task.owner],
    ['Role', task.role],
    ['Priority', task.priority],
    ['Attempt', attempt],
    ['Run', run],
    ['Tags', task.tags.length === 0 ? null : task.tags.join(', ')],
    ['Key', task.key],
    ['Created', <Time key="created" at={task.createdAt} />],
    ['Changed', inPast ? null : <Time key="changed" at={row?.updatedAt ?? task.updatedAt} now={now} />],
    ['Ended', task.completedAt === null || inPast ? null : <Time key="ended" at={task.completedAt} />],
    ['Took', task.completedAt === null || inPast ? null : duration(task.completedAt - task.createdAt)],
    ['Not before', task.notBefore === null ? null : clockTime(task.notBefore)],
    ['Deadline', task.deadline === null ? null : <Time key="deadline" at={task.deadline} />],
    ['Version', inPast ? null : task.version],
  ]
  return (
    <Section title="Details">
      <dl class="facts">
        {facts
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

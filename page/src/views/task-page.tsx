// The page of one task. What a person came for is first: the error or the question, the children, the result; then how it came about.

import { useEffect, useState } from 'preact/hooks'
import type { StoredError } from '../../../src/core/errors.ts'
import { startOf } from '../../../src/core/storable-text.ts'
import type { TaskSession } from '../live/task-session.ts'
import { callStarts } from '../model/call-starts.ts'
import { counted } from '../model/format.ts'
import { pathTaken, snapshotAfter, type TaskSnapshot, upTo } from '../model/history.ts'
import { type Action, isSettled, stateWord, wordOf } from '../model/lifecycle.ts'
import { lastOutput, type OutputLine, outputLines } from '../model/output.ts'
import type { Call, Message, RunRecord, ShownTask, TaskEvent, TaskRow, TaskStatus } from '../model/wire.ts'
import { linkToAll } from '../state/filters.ts'
import { session } from '../state/navigation.ts'
import { followRows, link, past, storeShown } from '../state/task-list.ts'
import { ActionDialog } from './action-dialog.tsx'
import { DependencyGraph } from './dependency-graph.tsx'
import { ProblemBox, Section, useFocusOnOpen } from './elements.tsx'
import { EventList } from './event-list.tsx'
import { FactList } from './fact-list.tsx'
import { Family } from './family.tsx'
import { JsonTree } from './json-tree.tsx'
import { MachinePanel } from './machine-panel.tsx'
import { Markdown } from './markdown.tsx'
import { Scrubber } from './scrubber.tsx'
import { StateChart } from './state-chart.tsx'
import { Conversation } from './task-conversation.tsx'
import { Details } from './task-details.tsx'
import { TaskError } from './task-error.tsx'
import { ActionBar, TaskHead } from './task-head.tsx'
import { OutputLog } from './task-output.tsx'
import { StatusPanel } from './task-status.tsx'
import { TimelineSection } from './task-timeline.tsx'
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
              <a href={linkToAll.value}>All tasks</a>
            </p>
          </ProblemBox>
        )}
      </main>
    )
  }
  return <OpenedTask key={open.id} open={open} shown={shown} />
}

function OpenedTask({ open, shown }: { open: TaskSession; shown: ShownTask }) {
  const [action, setAction] = useState<Action | null>(null)
  useFocusOnOpen()
  useEffect(() => {
    document.title = `${startOf(shown.task.name, 80)} · errand`
  }, [shown.task.name])
  followRows()
  const position = past.value?.seq ?? null
  const events = upTo(open.events.value, position)
  const snapshot = snapshotAfter(events)
  const inPast = position !== null
  const { task } = shown
  if (inPast && snapshot === undefined) return <NotYet name={task.name} />
  // The feed reports a new state before the task has been read again.
  const status: TaskStatus = inPast
    ? (snapshot?.status ?? task.status)
    : (link.store.rows.get(task.id)?.status ?? task.status)
  const row = link.store.rows.get(task.id)
  const word = inPast ? status : row === undefined ? stateWord(task, task.blockedBy.length) : wordOf(row)
  const until = past.value?.at ?? null
  const isKnown = ({ at }: { at: number }) => until === null || at <= until
  const calls = open.calls.value.filter(({ createdAt }) => isKnown({ at: createdAt }))
  const runs = open.runs.value.filter(({ startedAt }) => isKnown({ at: startedAt }))
  const messages = open.messages.value.filter(({ timestamp }) => isKnown({ at: timestamp }))
  const end = until ?? (isSettled(status) ? (task.completedAt ?? task.updatedAt) : null)
  const output = outputLines(events, runs, inPast ? [] : open.liveOutput.value)
  const known: KnownTask = { open, shown, status, inPast, row, snapshot, events, calls, runs, messages, output, end }
  return (
    <main class={`task-page${inPast ? ' in-past' : ''}`} id="main" tabIndex={-1}>
      <TaskHead task={task} status={status} word={word} name={inPast ? (snapshot?.name ?? task.name) : task.name} />
      <div class="task-tools">
        {inPast ? null : <ActionBar task={task} status={status} onAction={setAction} />}
        <Scrubber />
      </div>
      {open.problem.value === null ? null : <ProblemBox problem={open.problem.value} />}
      {inPast ? <p class="hint">The state after event {snapshot?.seq}. Go back to now to act on the task.</p> : null}
      <ErrorBanner {...known} />
      {inPast ? null : <StatusPanel open={open} task={task} status={status} />}
      <div class="columns">
        <div class="main-column">
          <MainColumn {...known} />
        </div>
        <div class="side-column">
          <SideColumn {...known} />
        </div>
      </div>
      {action === null ? null : (
        <ActionDialog action={action} shown={shown} onClose={() => setAction(null)} onDone={() => void open.read()} />
      )}
    </main>
  )
}

/** The task as it is shown, now or in the past: rows after the shown time are left out. */
interface KnownTask {
  open: TaskSession
  shown: ShownTask
  status: TaskStatus
  inPast: boolean
  row: TaskRow | undefined
  snapshot: TaskSnapshot | undefined
  events: TaskEvent[]
  calls: Call[]
  runs: RunRecord[]
  messages: Message[]
  output: OutputLine[]
  /** The end of the timeline; null while it grows. */
  end: number | null
}

/** The error of a failed task; of one that will be retried, the error of its last attempt. */
function ErrorBanner({ shown: { task }, status, inPast, snapshot, runs, output }: KnownTask) {
  const last = runs.at(-1)
  const error = inPast ? snapshot?.error : task.error
  const printed = (by: StoredError) => lastOutput(output, last?.attempt ?? 1, by.details)
  if (status === 'failed' && error)
    return <TaskError title="Failed" error={error} taskId={task.id} output={printed(error)} />
  if (isSettled(status) || last?.outcome !== 'failed' || last.error === null) return null
  const title = `Attempt ${last.attempt} failed`
  return <TaskError title={title} error={last.error} taskId={task.id} output={printed(last.error)} />
}

/** What the task is about comes first: its children and its result. Parts without content are left out. */
function MainColumn({ open, shown, status, inPast, events, calls, runs, messages, output, end }: KnownTask) {
  const { task, dependencies, dependents } = shown
  const store = storeShown()
  const own = store.rows.get(task.id)
  const fresh = (row: TaskRow) => store.rows.get(row.id) ?? row
  const live = inPast ? new Map() : open.liveTexts.value
  const path = pathTaken(events)
  return (
    <>
      {own === undefined ? null : <Family own={own} />}
      <MachinePanel open={open} shown={shown} status={status} />
      {status !== 'completed' || inPast || task.result === null ? null : (
        <Section title="Result">
          <TextOrJson value={task.result} label="result" />
        </Section>
      )}
      {output.length === 0 ? null : (
        <Section title="Output" note={counted(output.length, 'line')}>
          <OutputLog lines={output} />
        </Section>
      )}
      <TimelineSection runs={runs} calls={calls} messages={messages} events={events} until={end} />
      {messages.length + calls.length + live.size === 0 ? null : (
        <Section title="Conversation" note={counted(messages.length, 'message')}>
          <Conversation messages={messages} calls={calls} startOf={callStarts(events)} live={live} />
        </Section>
      )}
      {dependencies.length + dependents.length === 0 || own === undefined ? null : (
        <Section title="Dependencies">
          <DependencyGraph own={own} dependencies={dependencies.map(fresh)} dependents={dependents.map(fresh)} />
        </Section>
      )}
      <Section title="State chart" note={counted(path.length, 'transition')}>
        <StateChart status={status} path={path} />
      </Section>
      <Section title="History" note={counted(events.length, 'event')}>
        <EventList events={events} />
      </Section>
    </>
  )
}

function SideColumn({ open, shown: { task }, inPast, snapshot, messages }: KnownTask) {
  const team = open.team.value
  return (
    <>
      <Details
        task={task}
        row={storeShown().rows.get(task.id)}
        snapshot={snapshot}
        inPast={inPast}
        messages={messages}
        forks={open.forks.value}
      />
      {isEmpty(task.input) ? null : (
        <Section title="Input">
          <TextOrJson value={task.input} label="input" />
        </Section>
      )}
      {hasTeam(team) ? (
        <Section title="Team">
          <TeamView context={team} />
        </Section>
      ) : null}
      {open.facts.value.length === 0 || inPast ? null : (
        <Section title="Facts" note={`${open.facts.value.length}${open.olderFacts.value === null ? '' : ' and more'}`}>
          <FactList open={open} />
        </Section>
      )}
      {isEmpty(task.metadata) ? null : (
        <Section title="Metadata">
          <JsonTree value={task.metadata} label="metadata" />
        </Section>
      )}
    </>
  )
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0)
}

/** A text is Markdown, as models write it. */
function TextOrJson({ value, label }: { value: unknown; label: string }) {
  if (typeof value === 'string') return <Markdown text={value} label={label} limit={4_000} />
  return <JsonTree value={value} label={label} />
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

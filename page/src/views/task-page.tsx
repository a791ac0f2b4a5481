// The page of one task: its fields, state and reason, path, conversation, relations and actions.

import { useEffect, useState } from 'preact/hooks'
import type { TaskSession } from '../live/task-session.ts'
import { counted } from '../model/format.ts'
import { pathTaken, snapshotAfter, upTo } from '../model/history.ts'
import { type Action, isQueued, isSettled } from '../model/lifecycle.ts'
import type { ShownTask, Task, TaskRow, TaskStatus } from '../model/wire.ts'
import { session } from '../state/navigation.ts'
import { followRows, link, past, storeShown } from '../state/task-list.ts'
import { ActionDialog } from './action-dialog.tsx'
import { ProblemBox, Section, useFocusOnOpen } from './elements.tsx'
import { EventList } from './event-list.tsx'
import { FactList } from './fact-list.tsx'
import { FamilyGraph } from './family-graph.tsx'
import { JsonTree } from './json-tree.tsx'
import { Scrubber } from './scrubber.tsx'
import { StateChart } from './state-chart.tsx'
import { Conversation } from './task-conversation.tsx'
import { Details } from './task-details.tsx'
import { ActionBar, TaskHead } from './task-head.tsx'
import { StatusPanel } from './task-status.tsx'
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
  return <OpenedTask key={open.id} open={open} shown={shown} />
}

function OpenedTask({ open, shown }: { open: TaskSession; shown: ShownTask }) {
  const [action, setAction] = useState<Action | null>(null)
  useFocusOnOpen()
  useEffect(() => {
    document.title = `${shown.task.name.slice(0, 80)} · errand`
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
      <TaskHead task={task} status={status} queued={queued} name={inPast ? (snapshot?.name ?? task.name) : task.name} />
      <div class="task-tools">
        <ActionBar status={status} disabled={inPast} onAction={setAction} />
        <Scrubber />
      </div>
      {open.problem.value === null ? null : <ProblemBox problem={open.problem.value} />}
      {inPast ? <p class="hint">As it stood at event {snapshot?.seq}. Actions are possible now, not then.</p> : null}
      {inPast ? null : <StatusPanel open={open} task={task} status={status} onAnswer={() => setAction('answer')} />}
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
          <Details task={task} row={storeShown().rows.get(task.id)} snapshot={snapshot} inPast={inPast} />
          <Section title="Input">
            <JsonTree value={task.input} label="input" />
          </Section>
          {task.completedAt !== null && !inPast && task.error === null ? (
            <Section title="Result">
              <JsonTree value={task.result} label="result" />
            </Section>
          ) : null}
          {(inPast ? snapshot?.error : task.error) == null ? null : (
            <Section title="Error">
              <JsonTree value={inPast ? snapshot?.error : task.error} label="error" />
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

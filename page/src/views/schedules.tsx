// The schedules: when each makes tasks, what its latest time led to, and the actions that this token may take.

import { useEffect, useState } from 'preact/hooks'
import { duration } from '../model/format.ts'
import { isSettled } from '../model/lifecycle.ts'
import { linkTo } from '../model/route.ts'
import type { Schedule } from '../model/wire.ts'
import { api } from '../state/api.ts'
import { linkToAll } from '../state/filters.ts'
import { allowed, followSchedules, readSchedules, schedules, schedulesProblem } from '../state/schedules.ts'
import { Form, useRequest } from './action-form.tsx'
import { Dialog, LongText, ProblemBox, StateBadge, Time, useFocusOnOpen } from './elements.tsx'

const labels = { pause: 'Pause', resume: 'Resume', trigger: 'Run now' } as const
type Verb = keyof typeof labels

export function Schedules() {
  useFocusOnOpen()
  useEffect(followSchedules, [])
  const [asked, setAsked] = useState<{ verb: Verb; name: string } | null>(null)
  const all = schedules.value
  const problem = schedulesProblem.value
  const chosen = all?.find(({ name }) => name === asked?.name)
  return (
    <main class="schedules" id="main" tabIndex={-1}>
      <nav aria-label="Breadcrumb" class="crumbs">
        <a href={linkToAll.value}>All tasks</a>
      </nav>
      <h1>Schedules</h1>
      {problem === null ? null : <ProblemBox problem={problem} />}
      {all !== null && all.length > 0 ? (
        <Table all={all} onAsk={(verb, name) => setAsked({ verb, name })} />
      ) : problem === null ? (
        <p class="empty">{all === null ? 'Reading the schedules…' : <NoSchedules />}</p>
      ) : null}
      {asked === null || chosen === undefined ? null : (
        <ScheduleDialog verb={asked.verb} schedule={chosen} onClose={() => setAsked(null)} />
      )}
    </main>
  )
}

function NoSchedules() {
  return (
    <>
      There are no schedules. Add one on the command line:{' '}
      <code>errand schedule add nightly --cron "0 3 * * *" --run "errand run nightly.yaml"</code>
    </>
  )
}

function Table({ all, onAsk }: { all: readonly Schedule[]; onAsk: (verb: Verb, name: string) => void }) {
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label="Schedules">
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">Schedule</th>
            <th scope="col">When</th>
            <th scope="col">Next times</th>
            <th scope="col">Latest time</th>
            <th scope="col">Actions</th>
          </tr>
        </thead>
        <tbody>
          {all.map((schedule) => (
            <tr key={schedule.name}>
              <th scope="row">{schedule.name}</th>
              <td>
                <Rule {...schedule} />
              </td>
              <td>
                <Next {...schedule} />
              </td>
              <td>
                <Latest {...schedule} />
              </td>
              <td>
                <div class="actions">
                  {([schedule.paused ? 'resume' : 'pause', 'trigger'] as const)
                    .filter((verb) => allowed.value.has(`schedules:${verb}`))
                    .map((verb) => (
                      <button
                        type="button"
                        key={verb}
                        aria-label={`${labels[verb]}: ${schedule.name}`}
                        onClick={() => onAsk(verb, schedule.name)}
                      >
                        {labels[verb]}
                      </button>
                    ))}
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Rule({ cron, everyMs, timezone }: Schedule) {
  if (cron === null) return <>every {duration(everyMs ?? 0)}</>
  return (
    <>
      <code>{cron}</code> <span class="note">{timezone}</span>
    </>
  )
}

/** In the local time zone, as all times of the page. */
function Next({ paused, next }: Schedule) {
  if (paused) return <>paused</>
  if (next.length === 0) return <>never</>
  return (
    <ul class="plain">
      {next.map((at) => (
        <li key={at}>
          <Time at={at} />
        </li>
      ))}
    </ul>
  )
}

function Latest({ last, latest }: Schedule) {
  if (last === null) return <span class="note">none yet</span>
  return (
    <>
      <Time at={last.tick} />{' '}
      {last.error === undefined ? (
        last.outcome
      ) : (
        <LongText text={`${last.outcome}: ${last.error.message}`} label="why" />
      )}
      {latest === null ? null : (
        <>
          {', '}
          <a href={linkTo({ view: 'task', id: latest.id })} aria-label={`the latest task, ${latest.status}`}>
            <StateBadge status={latest.status} />
          </a>
        </>
      )}
    </>
  )
}

const whileOpen: Readonly<Record<Schedule['overlap'], string>> = {
  skip: 'Its latest task is open, so no task is made.',
  queue: 'Its latest task is open, so the task is made when that has ended, unless another one waits for that already.',
  replace: 'Its latest task is open, and is canceled for the new one.',
  allow: 'It makes a task beside its latest one, which is open.',
}

function consequence(verb: Verb, { overlap, latest }: Schedule): string {
  if (verb === 'pause') return 'It makes no tasks until it is resumed, and none afterwards for the time between.'
  if (verb === 'resume') return 'It makes tasks again, from its next time on.'
  const isOpen = latest !== null && !isSettled(latest.status)
  return isOpen ? whileOpen[overlap] : 'It makes a task at once, and keeps its times.'
}

function ScheduleDialog({ verb, schedule, onClose }: { verb: Verb; schedule: Schedule; onClose: () => void }) {
  const { name } = schedule
  const label = labels[verb]
  const { problem, busy, submit } = useRequest({ label, name, onClose, onDone: () => void readSchedules() })
  return (
    <Dialog label={`${label}: ${name}`} onClose={onClose}>
      <Form
        title={verb === 'trigger' ? 'Make a task of this schedule now?' : `${label} this schedule?`}
        problem={problem}
        busy={busy}
        submitLabel={label}
        onClose={onClose}
        onSubmit={() => void submit(() => api.post(`schedules/${encodeURIComponent(name)}/${verb}`, {}))}
      >
        <p class="dialog-task">{name}</p>
        <p>{consequence(verb, schedule)}</p>
      </Form>
    </Dialog>
  )
}

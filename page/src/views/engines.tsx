// The engines on the ledger, and the slots and open runs of the one that serves the page.

import { useEffect } from 'preact/hooks'
import { counted } from '../model/format.ts'
import { linkTo } from '../model/route.ts'
import type { EngineStatus, Instance } from '../model/wire.ts'
import { engineStatus } from '../state/engine-status.ts'
import { engines, enginesProblem, followEngines } from '../state/engines.ts'
import { linkToAll } from '../state/filters.ts'
import { ProblemBox, Time, useFocusOnOpen } from './elements.tsx'

export function Engines() {
  useFocusOnOpen()
  useEffect(followEngines, [])
  const found = engines.value
  const problem = enginesProblem.value
  const status = engineStatus.value
  return (
    <main class="schedules" id="main" tabIndex={-1}>
      <nav aria-label="Breadcrumb" class="crumbs">
        <a href={linkToAll.value}>All tasks</a>
      </nav>
      <h1>Engines</h1>
      {problem === null ? null : <ProblemBox problem={problem} />}
      {found === null ? (
        problem === null ? (
          <p class="empty">Reading the engines…</p>
        ) : null
      ) : found.instances.length === 0 ? (
        <p class="empty">No engine has worked on this ledger within a day.</p>
      ) : (
        <Table {...found} />
      )}
      {status === null ? null : <Runs status={status} />}
    </main>
  )
}

const signs: Readonly<Record<Instance['state'], string>> = { working: '▶', silent: '…', lost: '✕', ended: '⊘' }

function Table({ instances, at }: { instances: readonly Instance[]; at: number }) {
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label="Engines">
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">Process</th>
            <th scope="col">Host</th>
            <th scope="col">State</th>
            <th scope="col">Started</th>
            <th scope="col">Lease</th>
            <th scope="col">Ended</th>
          </tr>
        </thead>
        <tbody>
          {instances.map(({ id, pid, host, state, startedAt, leaseUntil, endedAt, own }) => (
            <tr key={id}>
              <th scope="row">
                <span title={id}>{pid}</span>
                {own ? ' (serves this page)' : ''}
              </th>
              <td>{host}</td>
              <td>
                <span aria-hidden="true">{signs[state]}</span> {state}
              </td>
              <td>
                <Time at={startedAt} now={at} />
              </td>
              <td>{state === 'ended' ? '' : leaseUntil > at ? 'current' : <Time at={leaseUntil} now={at} />}</td>
              <td>{endedAt === null ? '' : <Time at={endedAt} now={at} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Runs({ status: { slots, running, working, at } }: { status: EngineStatus }) {
  const parked = running.filter((run) => run.parked).length
  return (
    <section aria-label="The engine that serves this page">
      <h2>The engine that serves this page</h2>
      {working ? (
        <p>
          {slots.used} of {counted(slots.maxConcurrent, 'slot')} used; {counted(running.length - parked, 'run')} in a
          slot, {parked} parked (waiting in memory for other tasks).
        </p>
      ) : (
        <p>It runs no tasks.</p>
      )}
      {running.length === 0 ? null : (
        <ul class="names">
          {running.slice(0, maxRuns).map(({ taskId, name, executor, run, since, parked: isParked }) => (
            <li key={`${taskId} ${run}`}>
              <a href={linkTo({ view: 'task', id: taskId })}>{name}</a> <span class="note">{executor}</span>{' '}
              {isParked ? 'parked, since ' : 'since '}
              <Time at={since} now={at} />
            </li>
          ))}
          {running.length > maxRuns ? <li class="note">and {running.length - maxRuns} more</li> : null}
        </ul>
      )}
    </section>
  )
}

const maxRuns = 100

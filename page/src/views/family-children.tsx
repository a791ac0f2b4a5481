// The children of a task as a table.

import { startOf } from '../../../src/core/storable-text.ts'
import { type Family, type Span, workedMs } from '../model/family.ts'
import { clipped, counted, duration } from '../model/format.ts'
import { wordOf } from '../model/lifecycle.ts'
import { linkTo } from '../model/route.ts'
import type { TaskRow } from '../model/wire.ts'
import { StateBadge } from './elements.tsx'

const maxErrorLength = 200

interface ChildrenProps {
  /** The children that are shown. */
  rows: readonly TaskRow[]
  /** Number of all children. */
  count: number
  family: Family
  spanOfRow: (row: TaskRow) => Span
  now: number
  /** Number of children that `showMore` adds. */
  pageSize: number
  showMore: () => void
}

export function ChildrenTable({ rows, count, family, spanOfRow, now, pageSize, showMore }: ChildrenProps) {
  const rest = count - rows.length
  return (
    <>
      <div class="scroll-x" tabIndex={0} role="group" aria-label="Children">
        <table class="rows children">
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">#</th>
              <th scope="col">Task</th>
              <th scope="col" class="executor">
                Executor
              </th>
              <th scope="col" class="number">
                Duration
              </th>
              <th scope="col">Error</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <ChildRow
                key={row.id}
                row={row}
                worked={workedMs(row, spanOfRow(row), now)}
                failedBelow={family.failedBelow.get(row.id) ?? 0}
              />
            ))}
          </tbody>
        </table>
      </div>
      {count > pageSize ? (
        <p class="note">
          Tasks that ask, failed or work come first.{' '}
          {rest > 0 ? (
            <button type="button" onClick={showMore}>
              Show {Math.min(pageSize, rest)} more of {count.toLocaleString('en')}
            </button>
          ) : null}
        </p>
      ) : null}
    </>
  )
}

function ChildRow({ row, worked, failedBelow }: { row: TaskRow; worked: number | null; failedBelow: number }) {
  const { progress, error } = row
  return (
    <tr>
      <td>
        <StateBadge status={row.status} word={wordOf(row)} />
        {progress === null || row.status !== 'working' ? null : (
          <span class="note"> {Math.round(progress.fraction * 100)} %</span>
        )}
      </td>
      <td>
        <code>#{row.seq}</code>
      </td>
      <td class="name">
        <a href={linkTo({ view: 'task', id: row.id })}>{startOf(row.name, 120) || row.id}</a>
        {row.childCount > 0 ? <span class="note"> {counted(row.childCount, 'task')} below</span> : null}
      </td>
      <td class="executor">{row.executor ?? (row.owner === null ? '' : `@${row.owner}`)}</td>
      <td class="number">{worked === null ? '' : duration(worked)}</td>
      <td class="error">
        {row.status !== 'failed' || error === null ? null : (
          <>
            <code class="error-code">{error.code}</code> {clipped(error.message, maxErrorLength)}
          </>
        )}
        {failedBelow > 0 && error !== null ? ' ' : null}
        {failedBelow > 0 ? <strong class="error-code">{failedBelow} failed below</strong> : null}
      </td>
    </tr>
  )
}

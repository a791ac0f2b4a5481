// The family of a task: its children as a table, and all tasks below it on a time axis.

import { Fragment } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { FamilyRuns } from '../live/family-runs.ts'
import { childrenOf, familyOf, maxCounted, spanOf } from '../model/family.ts'
import { type StateWord, stateLooks, stateWords } from '../model/lifecycle.ts'
import type { TaskRow } from '../model/wire.ts'
import { api } from '../state/api.ts'
import { past, storeShown } from '../state/task-list.ts'
import { Section, useNow } from './elements.tsx'
import { ChildrenTable } from './family-children.tsx'
import { FamilyGantt } from './family-gantt.tsx'

const maxLines = 40
const maxRows = 25

/** Nothing for a task without children. */
export function Family({ own }: { own: TaskRow }) {
  const runs = useMemo(() => new FamilyRuns(api), [own.id])
  useEffect(() => () => runs.close(), [runs])
  const store = storeShown()
  const family = familyOf(store, own, maxLines)
  const [limit, setLimit] = useState(maxRows)
  const children = childrenOf(store, own.id, maxRows)
  const rows = children.slice(0, limit)
  useEffect(() => runs.want([...family.lines.map(({ row }) => row), ...rows]))
  const isActive = family.lines.some(({ row }) => row.completedAt === null)
  const until = past.value?.at ?? null
  const second = useNow(isActive ? 500 : 60_000)
  const now = until ?? second
  if (family.total === 0) return null
  const spanOfRow = (row: TaskRow) => spanOf(row, runs.runs.value.get(row.id) ?? [], until)
  const total = `${family.total.toLocaleString('en')}${family.total >= maxCounted ? ' or more' : ''}`
  const isWide = family.total >= family.lines.length
  return (
    <>
      <Section title="Children" note={<Counts total={total} counts={family.counts} />}>
        <ChildrenTable
          rows={rows}
          count={children.length}
          family={family}
          spanOfRow={spanOfRow}
          now={now}
          pageSize={maxRows}
          showMore={() => setLimit(limit + maxRows)}
        />
      </Section>
      <Section
        title="Family over time"
        note={
          isWide ? `${family.lines.length - 1} of ${total} tasks; those that ask, failed or work come first` : undefined
        }
      >
        <FamilyGantt family={family} spanOfRow={spanOfRow} now={now} />
      </Section>
    </>
  )
}

/** How many tasks of the family are in which state. */
function Counts({ total, counts }: { total: string; counts: ReadonlyMap<StateWord, number> }) {
  const shown = stateWords.filter((word) => counts.has(word))
  return (
    <span class="family-counts">
      {total} {total === '1' ? 'task' : 'tasks'} below:{' '}
      {shown.map((word) => (
        <Fragment key={word}>
          <span class={`state state-${word in stateLooks ? word : 'submitted'}`}>
            {counts.get(word)?.toLocaleString('en')} {word}
          </span>{' '}
        </Fragment>
      ))}
    </span>
  )
}

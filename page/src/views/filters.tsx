// The filters of the list: states, search text, executor or owner, tags, order, and folding.

import { useState } from 'preact/hooks'
import { stateLooks, taskStatuses } from '../model/lifecycle.ts'
import { everything, isFiltering, type Layout, type SortBy } from '../model/tree.ts'
import type { TaskStatus } from '../model/wire.ts'
import { choice, choose, foldAll, listing, search } from '../state/task-list.ts'

export const searchId = 'search'

function toggled(states: ReadonlySet<TaskStatus>, status: TaskStatus): Set<TaskStatus> {
  const next = new Set(states)
  if (!next.delete(status)) next.add(status)
  return next
}

export function StateFilters() {
  const { counts } = listing.value
  const { states } = choice.value
  return (
    <div class="state-filters" role="group" aria-label="Filter by state">
      {taskStatuses.map((status) => (
        <button
          type="button"
          key={status}
          class={`state-filter state-${status}${counts[status] === 0 ? ' none' : ''}`}
          aria-pressed={states.has(status)}
          onClick={() => choose({ states: toggled(states, status) })}
        >
          <span class="glyph" aria-hidden="true">
            {stateLooks[status].glyph}
          </span>
          <span>{stateLooks[status].word}</span> <b>{counts[status].toLocaleString('en')}</b>
        </button>
      ))}
    </div>
  )
}

const sorts: Record<SortBy, string> = {
  urgent: 'most urgent first',
  newest: 'newest first',
  change: 'latest change first',
  age: 'oldest first',
  priority: 'by priority',
}
const layouts: Record<Layout, string> = { tree: 'tree', roots: 'only roots', flat: 'flat' }

export function Filters() {
  const { executors, tags, matched, total } = listing.value
  const { executor, tag, text, sort, layout } = choice.value
  const hidden = total - matched
  const [open, setOpen] = useState(false)
  return (
    <div class={`filters${open ? ' open' : ''}`} role="search" aria-label="Tasks">
      <label class="search">
        <span class="sr">Search tasks</span>
        <input
          id={searchId}
          type="search"
          placeholder="Search name, id, reason…  ( / )"
          value={text}
          onInput={(event) => search(event.currentTarget.value)}
        />
      </label>
      <button type="button" class="filters-button" aria-expanded={open} onClick={() => setOpen(!open)}>
        Filters and order
      </button>
      <Select
        label="Worked on by"
        value={executor}
        options={withAll(executors)}
        onChange={(value) => choose({ executor: value })}
      />
      {tags.length === 0 ? null : (
        <Select label="Tag" value={tag} options={withAll(tags)} onChange={(value) => choose({ tag: value })} />
      )}
      <Select
        label="Sort"
        value={sort}
        options={Object.entries(sorts)}
        onChange={(value) => choose({ sort: value as SortBy })}
      />
      <Select
        label="Show"
        value={layout}
        options={Object.entries(layouts)}
        onChange={(value) => choose({ layout: value as Layout })}
      />
      {layout === 'tree' ? (
        <span class="folds">
          <button type="button" class="link" onClick={() => foldAll(true)}>
            fold all
          </button>
          <button type="button" class="link" onClick={() => foldAll(false)}>
            unfold all
          </button>
        </span>
      ) : null}
      <span class="hidden-count">
        {hidden > 0 ? `${hidden.toLocaleString('en')} not shown` : ''}
        {isFiltering(choice.value) ? (
          <button type="button" class="link" onClick={() => choose({ ...everything, sort, layout })}>
            clear filters
          </button>
        ) : null}
      </span>
    </div>
  )
}

function withAll(values: readonly string[]): Array<[string, string]> {
  return [['', 'any'], ...values.map((value): [string, string] => [value, value])]
}

interface SelectProps {
  label: string
  value: string
  options: Array<[string, string]>
  onChange: (value: string) => void
}

function Select({ label, value, options, onChange }: SelectProps) {
  return (
    <label class="select">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([key, word]) => (
          <option key={key} value={key}>
            {word}
          </option>
        ))}
      </select>
    </label>
  )
}

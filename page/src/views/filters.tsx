// The filters of the list, its order, and folding.

import { useState } from 'preact/hooks'
import {
  type Choice,
  everything,
  isFiltering,
  type Layout,
  layouts,
  metadataIn,
  type SortBy,
  sorts,
} from '../model/filters.ts'
import { stateLooks, taskStatuses } from '../model/lifecycle.ts'
import type { TaskStatus } from '../model/wire.ts'
import { choose } from '../state/filters.ts'
import { choice, foldAll, listing } from '../state/task-list.ts'

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
          onInput={(event) => choose({ text: event.currentTarget.value })}
        />
      </label>
      <button type="button" class="filters-button" aria-expanded={open} onClick={() => setOpen(!open)}>
        More filters
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
      {open || hasMore(choice.value) ? <MoreFilters /> : null}
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

function hasMore({ code, metadata, since, before, system }: Choice): boolean {
  return [code, metadata, since, before].some((value) => value !== '') || system
}

const agoWords: Readonly<Record<string, string>> = {
  '': 'any time',
  '1h': 'last hour',
  '1d': 'last day',
  '7d': 'last week',
}

/** The filters that are needed less often. */
function MoreFilters() {
  const { code, metadata, since, before, system } = choice.value
  const { codes } = listing.value
  const isDated = before !== '' || !Object.hasOwn(agoWords, since)
  return (
    <>
      <Select
        label="Error code"
        value={code}
        options={withAll(code === '' || codes.includes(code) ? codes : [code, ...codes])}
        onChange={(value) => choose({ code: value })}
      />
      <label class="select">
        <span>Metadata</span>
        <input
          type="text"
          class="narrow"
          placeholder="KEY=VALUE"
          aria-invalid={metadata !== '' && metadataIn(metadata) === null}
          value={metadata}
          onInput={(event) => choose({ metadata: event.currentTarget.value })}
        />
      </label>
      <Select
        label="Ended or created"
        value={isDated ? 'dates' : since}
        options={[...Object.entries(agoWords), ['dates', 'between…']]}
        onChange={(value) => choose({ since: value === 'dates' ? localTime(Date.now() - dayMs) : value, before: '' })}
      />
      {isDated ? (
        <>
          <TimeInput label="Since" value={since} onChange={(value) => choose({ since: value })} />
          <TimeInput label="Before" value={before} onChange={(value) => choose({ before: value })} />
        </>
      ) : null}
      <Select
        label="System tasks"
        value={system ? 'system' : ''}
        options={[
          ['', 'left out'],
          ['system', 'only these'],
        ]}
        onChange={(value) => choose({ system: value === 'system' })}
      />
    </>
  )
}

const dayMs = 86_400_000

/** In the form of an input for a local time, which has no zone. */
function localTime(at: number): string {
  const minutes = new Date(at).getTimezoneOffset()
  return new Date(at - minutes * 60_000).toISOString().slice(0, 16)
}

interface TimeInputProps {
  label: string
  value: string
  onChange: (value: string) => void
}

function TimeInput({ label, value, onChange }: TimeInputProps) {
  return (
    <label class="select">
      <span>{label}</span>
      <input type="datetime-local" value={value} onChange={(event) => onChange(event.currentTarget.value)} />
    </label>
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

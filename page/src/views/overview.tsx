// The first view: what needs a person, plots, filters and the tree of all tasks.

import { isFiltering } from '../model/filters.ts'
import { linkToCharts, linkToEngines, linkToNew, linkToSchedules } from '../state/navigation.ts'
import { choice, leftOut, listing, loaded, past } from '../state/task-list.ts'
import { BulkBar } from './bulk.tsx'
import { Filters, StateFilters } from './filters.tsx'
import { NeedsYou } from './needs-you.tsx'
import { Plots } from './plots.tsx'
import { Scrubber } from './scrubber.tsx'
import { TaskGrid } from './task-grid.tsx'

export function Overview() {
  const { total, matched } = listing.value
  return (
    <main class={`overview${past.value === null ? '' : ' in-past'}`} id="main" tabIndex={-1}>
      <h1 class="sr">All tasks</h1>
      <NeedsYou />
      <div class="glance">
        <StateFilters />
        <Plots />
      </div>
      <div class="tools">
        <Filters />
        <Scrubber />
        <a href={linkToSchedules} class="button">
          Schedules
        </a>
        <a href={linkToEngines} class="button">
          Engines
        </a>
        <a href={linkToCharts} class="button">
          Charts
        </a>
      </div>
      {leftOut.value > 0 ? (
        <p class="hint">
          {leftOut.value.toLocaleString('en')} newer tasks are not shown: the page has reached its limit.
        </p>
      ) : null}
      <TaskGrid />
      <BulkBar />
      {loaded.value && total === 0 ? (
        choice.value.system ? (
          <p class="empty">There are no system tasks.</p>
        ) : (
          <NoTasks />
        )
      ) : null}
      {total > 0 && matched === 0 && isFiltering(choice.value) ? (
        <p class="empty">No task matches these filters.</p>
      ) : null}
      {loaded.value || total > 0 ? null : <p class="empty">Reading the tasks…</p>}
    </main>
  )
}

function NoTasks() {
  return (
    <div class="empty">
      <p>{past.value === null ? 'There are no tasks yet.' : 'There were no tasks yet.'}</p>
      {past.value === null ? (
        <p>
          <a href={linkToNew}>Create the first one</a>, or run a plan: <code>errand run plan.yaml</code>
        </p>
      ) : null}
    </div>
  )
}

// What is chosen of the list: filters, order and layout. The address has them, so that a link or a reload shows the same tasks.

import { computed, effect } from '@preact/signals'
import { ServerSearch } from '../live/server-search.ts'
import { type Choice, choiceIn, metadataIn, queryOf } from '../model/filters.ts'
import { linkTo } from '../model/route.ts'
import { atMostEvery } from '../model/throttle.ts'
import { api, clock } from './api.ts'
import { route } from './navigation.ts'
import { choice, followRows, link, loaded, updateListing } from './task-list.ts'

/** The address of the list as it is chosen. */
export const linkToAll = computed(() => linkTo({ view: 'overview', query: queryOf(choice.value) }))

/** Changes the filters, the order or the layout. */
export function choose(change: Partial<Omit<Choice, 'found' | 'described'>>): void {
  const before = choice.peek()
  const { found, described } = before
  const next = { ...before, ...change, found, described }
  const isOther = next.system !== before.system
  const asksText = isOther || next.text.trim() !== before.text.trim()
  const asksMetadata = isOther || next.metadata !== before.metadata
  if (asksText) next.found = none
  if (asksMetadata) next.described = none
  choice.value = next
  if (isOther) {
    loaded.value = false
    link.show(next.system)
  }
  const field = metadataIn(next.metadata)
  if (asksText) ask(byText, next, next.text.trim() === '' ? null : { text: next.text.trim() })
  if (asksMetadata) ask(byMetadata, next, field === null ? null : { metadata: field })
  updateListing()
  writeAddress()
}

const none: ReadonlySet<string> = new Set()

function ask(search: ServerSearch, { system }: Choice, filter: object | null): void {
  search.search(filter === null ? null : { ...filter, ...(system && { system }) }, link.store.lastTask)
}

const reporting = (field: 'found' | 'described') => (ids: ReadonlySet<string>) => {
  choice.value = { ...choice.peek(), [field]: ids }
  updateListing()
}
const byText = new ServerSearch(api, clock, reporting('found'))
const byMetadata = new ServerSearch(api, clock, reporting('described'))

/** Browsers refuse to change the address with every key that is pressed. */
const writeAddress = atMostEvery(clock, 400, () => {
  if (route.peek().view === 'overview' && location.hash !== linkToAll.peek()) {
    history.replaceState(null, '', linkToAll.peek())
  }
})

const extendEveryMs = 2_000
const relistEveryMs = 30_000

/** Takes the choice from the address now and whenever it changes, and keeps what the server has found current. Called once. */
export function startFilters(): void {
  effect(() => {
    const here = route.value
    if (here.view === 'overview' && here.query !== queryOf(choice.peek())) choose(choiceIn(here.query))
  })
  const extend = atMostEvery(clock, extendEveryMs, () => {
    byText.extend(link.store.lastTask)
    byMetadata.extend(link.store.lastTask)
  })
  effect(() => {
    followRows()
    extend()
  })
  // A time that is counted back from now passes by itself.
  setInterval(() => {
    if (choice.peek().since !== '' || choice.peek().before !== '') updateListing()
  }, relistEveryMs)
}

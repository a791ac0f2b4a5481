// From tasks to lines: filters, search, folding, order, and which lines are visible.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Choice, choiceIn, choicesOf, everything, queryOf } from '../../page/src/model/filters.ts'
import { TaskStore } from '../../page/src/model/task-store.ts'
import { flattenTree, visibleLines } from '../../page/src/model/tree.ts'
import type { TaskRow, TaskStatus } from '../../page/src/model/wire.ts'
import { rowOf } from './page-fixtures.ts'

const open: (id: string) => boolean = () => true

function forestOf(rows: TaskRow[]): TaskStore {
  const store = new TaskStore()
  store.applyRows(rows, 1)
  return store
}

const family = () =>
  forestOf([
    rowOf({ id: 'root', seq: 1, name: 'Report' }),
    rowOf({ id: 'left', seq: 2, name: 'Gather numbers', parentId: 'root', status: 'completed', tags: ['q3'] }),
    rowOf({ id: 'right', seq: 3, name: 'Write', parentId: 'root', status: 'working', executor: 'writer', priority: 5 }),
    rowOf({ id: 'leaf', seq: 4, name: 'Check figures', parentId: 'right', status: 'failed', owner: 'ana' }),
    rowOf({ id: 'other', seq: 5, name: 'Import', status: 'working', updatedAt: 9 }),
  ])

const names = (store: TaskStore, choice: Partial<Choice>, isOpen = open) =>
  flattenTree(store, { ...everything, ...choice }, isOpen).lines.map(
    ({ row, level }) => `${'  '.repeat(level - 1)}${row.id}`,
  )

it('flattenTree lists families below their roots, with level, position and size of the set', () => {
  const { lines } = flattenTree(family(), { ...everything, sort: 'age' }, open)
  expect(lines.map(({ row, level, position, setSize }) => [row.id, level, position, setSize])).toEqual([
    ['root', 1, 1, 2],
    ['left', 2, 1, 2],
    ['right', 2, 2, 2],
    ['leaf', 3, 1, 1],
    ['other', 1, 2, 2],
  ])
})

it('flattenTree hides the tasks below a folded one, and no others', () => {
  expect(names(family(), { sort: 'age' }, (id) => id !== 'right')).toEqual(['root', '  left', '  right', 'other'])
})

it('flattenTree keeps the ancestors of a match, and marks them as not matching', () => {
  const { lines, matched, total } = flattenTree(
    family(),
    { ...everything, states: new Set<TaskStatus>(['failed']) },
    open,
  )
  expect(lines.map(({ row, matches }) => [row.id, matches])).toEqual([
    ['root', false],
    ['right', false],
    ['leaf', true],
  ])
  expect([matched, total]).toEqual([1, 5])
})

it('flattenTree shows the matches of a search in folded families', () => {
  expect(names(family(), { text: 'figures' }, () => false)).toEqual(['root', '  right', '    leaf'])
})

it('flattenTree requires every word of a search, in name, id, owner or reason', () => {
  expect(names(family(), { text: 'check ANA' })).toEqual(['root', '  right', '    leaf'])
  expect(names(family(), { text: 'check bob' })).toEqual([])
  expect(names(family(), { text: '#5' })).toEqual(['other'])
})

it('flattenTree filters by executor, by owner and by tag', () => {
  expect(names(family(), { executor: 'writer', layout: 'flat' })).toEqual(['right'])
  expect(names(family(), { executor: '@ana', layout: 'flat' })).toEqual(['leaf'])
  expect(names(family(), { tag: 'q3', layout: 'flat' })).toEqual(['left'])
  expect(choicesOf(family().rows.values())).toEqual({ executors: ['@ana', 'writer'], tags: ['q3'], codes: [] })
})

it('flattenTree filters by error code, by what the server found by metadata, and returns folded matches too', () => {
  const error = { code: 'ECONNREFUSED', message: 'no' }
  const store = forestOf([
    rowOf({ id: 'root', status: 'failed', error: { code: 'TASK_FAILED', message: 'no' } }),
    rowOf({ id: 'below', seq: 2, parentId: 'root', status: 'failed', error }),
  ])
  const { lines, matching } = flattenTree(store, { ...everything, code: 'ECONNREFUSED' }, () => false)
  expect([lines.map(({ row }) => row.id), matching.map(({ id }) => id)]).toEqual([['root'], ['below']])
  expect(names(store, { metadata: 'customer=7', described: new Set(['root']) })).toEqual(['root'])
  expect(names(store, { metadata: 'customer' })).toEqual(['root', '  below'])
  expect(choicesOf(store.rows.values()).codes).toEqual(['ECONNREFUSED', 'TASK_FAILED'])
})

it('flattenTree filters by the time at which tasks ended, or if they are open were created', () => {
  const hour = 3_600_000
  const store = forestOf([
    rowOf({ id: 'old', seq: 1, createdAt: 0, completedAt: hour }),
    rowOf({ id: 'ended', seq: 2, createdAt: 0, completedAt: 9 * hour }),
    rowOf({ id: 'open', seq: 3, createdAt: 9.5 * hour }),
  ])
  const found = (choice: Partial<Choice>) =>
    flattenTree(store, { ...everything, sort: 'age', ...choice }, open, undefined, 10 * hour).lines.map(
      ({ row }) => row.id,
    )
  expect(found({ since: '2h' })).toEqual(['ended', 'open'])
  expect(found({ since: '2h', before: '40m' })).toEqual(['ended'])
  expect(found({ before: '2h' })).toEqual(['old'])
  expect(found({ since: 'soon' })).toEqual(['old', 'ended', 'open'])
})

it('the address has all filters, and what it does not know is left out', () => {
  const choice: Choice = {
    ...everything,
    states: new Set<TaskStatus>(['failed', 'paused']),
    executor: '@ana',
    tag: 'q3 & q4',
    code: 'E1',
    metadata: 'customer="7"',
    since: '1d',
    before: '2026-12-01T09:30',
    system: true,
    text: 'a b',
    sort: 'age',
    layout: 'flat',
  }
  const query = queryOf(choice)
  expect({ ...choiceIn(query), states: [...choiceIn(query).states].sort() }).toEqual({
    ...choice,
    states: ['failed', 'paused'],
  })
  expect(queryOf(everything)).toBe('')
  expect(choiceIn('status=odd&sort=toString&show=x&more=1')).toEqual(everything)
})

it('flattenTree sorts siblings by age, by priority and by latest change', () => {
  expect(names(family(), { sort: 'priority' })).toEqual(['root', '  right', '    leaf', '  left', 'other'])
  expect(names(family(), { sort: 'change', layout: 'roots' })).toEqual(['other', 'root'])
})

it('flattenTree lists the newest family first, and its tasks in the order of the plan', () => {
  expect(names(family(), { sort: 'newest' })).toEqual(['other', 'root', '  left', '  right', '    leaf'])
})

it('flattenTree lists a family first when a task deep in it has changed last', () => {
  const store = family()
  store.applyRows([rowOf({ id: 'leaf', seq: 4, parentId: 'right', updatedAt: 99 })], 2)
  expect(names(store, { sort: 'change' })).toEqual(['root', '  right', '    leaf', '  left', 'other'])
})

it('flattenTree lists a task with an unknown parent as a root', () => {
  expect(names(forestOf([rowOf({ id: 'orphan', parentId: 'gone' })]), {})).toEqual(['orphan'])
})

it('flattenTree lists a family with ten thousand levels', () => {
  const rows = Array.from({ length: 10_000 }, (_, index) =>
    rowOf({ id: `t${index}`, seq: index + 1, parentId: index === 0 ? null : `t${index - 1}` }),
  )
  expect(flattenTree(forestOf(rows), everything, open).lines).toHaveLength(10_000)
})

const forests = fc
  .array(
    fc.record({
      parent: fc.nat(),
      status: fc.constantFrom<TaskStatus>('submitted', 'working', 'failed'),
      executor: fc.constantFrom(null, 'a', 'b'),
      priority: fc.integer({ min: -2, max: 2 }),
    }),
    { maxLength: 40 },
  )
  .map((given) =>
    given.map(({ parent, ...row }, index) =>
      rowOf({
        ...row,
        id: `t${index}`,
        seq: index + 1,
        parentId: index === 0 || parent % 3 === 0 ? null : `t${parent % index}`,
      }),
    ),
  )
const choices = fc.record({
  states: fc
    .uniqueArray(fc.constantFrom<TaskStatus>('submitted', 'working', 'failed'))
    .map((states) => new Set(states)),
  executor: fc.constantFrom('', 'a', 'b'),
  sort: fc.constantFrom('newest', 'age', 'priority', 'change'),
})

it('flattenTree lists each match exactly once, below its parent, with any filter and order', () => {
  fc.assert(
    fc.property(forests, choices, (rows, choice) => {
      const filters = { ...everything, ...choice } as Choice
      const { lines, matched } = flattenTree(forestOf(rows), filters, open)
      const fits = (row: TaskRow) =>
        (filters.states.size === 0 || filters.states.has(row.status)) &&
        (filters.executor === '' || row.executor === filters.executor)
      expect(matched).toBe(rows.filter(fits).length)
      expect(
        lines
          .filter(({ matches }) => matches)
          .map(({ row }) => row.id)
          .sort(),
      ).toEqual(
        rows
          .filter(fits)
          .map(({ id }) => id)
          .sort(),
      )
      expect(new Set(lines.map(({ row }) => row.id)).size).toBe(lines.length)
      const path: string[] = []
      for (const { row, level } of lines) {
        path.length = level - 1
        expect(row.parentId).toBe(path.at(-1) ?? null)
        path.push(row.id)
      }
    }),
  )
})

it('visibleLines returns the visible lines and a few more, within the bounds of the list', () => {
  fc.assert(
    fc.property(fc.nat(20_000), fc.nat(600_000), fc.integer({ min: 1, max: 2_000 }), (count, scrollTop, height) => {
      const { from, to } = visibleLines(count, { scrollTop, height, lineHeight: 28 })
      const first = Math.floor(scrollTop / 28)
      expect(from).toBeGreaterThanOrEqual(0)
      expect(to).toBeLessThanOrEqual(count)
      expect(to - from).toBeLessThanOrEqual(Math.ceil(height / 28) + 14)
      for (let line = first; line * 28 < scrollTop + height && line < count; line++) {
        expect(line >= from && line < to).toBe(true)
      }
    }),
  )
})

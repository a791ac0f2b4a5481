// Each shape, run by XState, reaches what a person says that it must: so a shape that does nothing is found here, and not in a comparison.

import { beforeEach, describe, expect, it, vi } from 'vitest'
import { runLive } from './live-run.ts'
import type { View } from './machine-runner.ts'
import { shapes } from './shapes/index.ts'

interface Facts {
  /** Of the last view. */
  last: Partial<View>
  /** Parts of views on the way: 0 is the start, 1 the view after the first entry. */
  at?: Record<number, Partial<View>>
  /** All named actions of the run, and all events that it emitted. */
  actions?: string
  emitted?: unknown[]
}

const facts: Record<string, Facts> = {
  'an order is packed when it is full': {
    at: { 2: { value: 'open', context: { items: ['tea', 'milk'], counted: [1, 2] } } },
    last: { status: 'done', value: 'sent', output: { items: ['tea', 'milk', 'salt'], counted: [1, 2, 99] } },
  },
  'a form of several steps goes back and forth': {
    at: {
      1: { value: { filling: 'name' } },
      6: { value: 'confirming', context: { accepted: { name: 'Grace', plan: 'team' } } },
    },
    last: { status: 'done', output: { account: { name: 'Grace H.', plan: 'team' } } },
  },
  'a media player has regions of playback and sound': {
    at: { 8: { value: { playback: 'paused', sound: 'muted' } } },
    last: { value: { playback: 'playing', sound: 'muted' }, context: { volume: 7, track: 3 } },
    actions: 'showVolume showVolume showTrack showVolume showTrack',
  },
  'two approvals in any order, and their revocation': {
    at: { 2: { value: { reviewing: { legal: 'open', finance: 'open' } } }, 4: { value: 'approved' } },
    last: { value: 'approved', context: { by: ['finance', 'legal', 'finance', 'finance', 'legal'] } },
  },
  'an editor opens where it was closed': {
    at: { 3: { value: 'closed' }, 4: { value: { open: { editing: 'text' } } } },
    last: { value: { open: { editing: 'styles' } } },
  },
  'entry, exit and transition actions run in order': {
    at: { 0: { actions: ['lightsOn', 'bolt'] }, 2: { actions: ['ring', 'bolt'] } },
    last: { value: 'street', actions: ['lightsOff', 'farewell', 'farewell'] },
  },
  'wildcards take what no other descriptor takes': {
    last: { context: { seen: ['alarm', 'heat sensor.heat.low', 'sensor sensor.motion', 'other window'] } },
  },
  'combined guards ask for the state of another region': {
    at: { 1: { value: { alarm: 'off', window: 'open' } }, 6: { value: { alarm: 'off', window: 'shut' } } },
    last: { value: { alarm: 'on', window: 'shut' }, context: { tries: 3 } },
  },
  'a ticket is made from its input': {
    at: { 0: { context: { seat: { row: 12, place: 'C' }, price: 80 } } },
    last: { status: 'done', output: { text: '12C', price: 130 } },
  },
  'a traffic light passes its colours, several in one advance': {
    at: { 3: { value: 'green' }, 4: { value: 'yellow' }, 6: { value: { red: 'walk' } }, 8: { value: 'green' } },
    last: { value: 'green', context: { cycles: 4 } },
  },
  'an upload is tried again after growing pauses': {
    at: { 0: { value: 'pausing', children: [] }, 3: { value: 'pausing', context: { attempt: 2 } } },
    last: { status: 'done', output: { files: 7, attempts: 4 } },
  },
  'a search waits until the keys rest': {
    at: { 2: { context: { searches: [] } }, 5: { context: { text: 'ab', searches: ['ab'] } } },
    last: { context: { text: 'd', searches: ['ab', 'd'] } },
  },
  'two delayed events of one id both come': {
    at: { 4: { context: { rings: 1 } }, 5: { context: { rings: 2 } } },
    last: { context: { rings: 3 } },
  },
  'a session is locked when it is idle': {
    at: { 4: { value: 'present', context: { reminders: 1 } }, 5: { value: 'locked' }, 8: { value: 'away' } },
    last: { value: 'present', context: { reminders: 1, activity: 1 } },
  },
  'delays with guards pass in parallel regions': {
    at: { 2: { value: { heat: 'cold', timer: 'ticking' }, context: { beeps: 2 } } },
    last: { value: { heat: 'ready', timer: 'off' }, context: { degrees: 220, beeps: 3 } },
  },
  'a child gets an event later, unless it is taken back': {
    at: { 2: { context: { totals: [] } } },
    last: { context: { totals: [5, 6] }, children: ['ticker'] },
  },
  'a payment gets its receipt from a promise': { last: { status: 'done', output: 'R-21', actions: ['thank'] } },
  'a login is locked after two wrong passwords': {
    at: { 2: { value: 'locked' }, 3: { value: 'locked' }, 4: { value: 'out', context: { tries: 0 } } },
    last: { status: 'done', value: 'in', context: { tries: 1, said: ['not a'] } },
  },
  'a download is left before it ends': {
    at: { 1: { value: 'loading', children: ['fetch'] }, 2: { value: 'idle', children: [] }, 8: { value: 'failed' } },
    last: { value: 'idle', context: { errors: 0 } },
  },
  'a chat sends and receives through a callback': {
    at: { 4: { value: 'offline', children: [] } },
    last: { context: { lines: ['tea: hello', 'jam: again'], drafts: 2 } },
  },
  'a thermometer reads what an observable gives': {
    at: { 1: { value: 'idle' } },
    last: { context: { readings: [20, 21, 22, 23] }, children: [] },
  },
  'an event observable sends its values as events': {
    last: { value: 'quiet', context: { posts: ['first', 'second', 'first', 'second'] } },
  },
  'a turnstile counts coins in a reducer': {
    at: { 2: { value: 'closed' }, 4: { value: 'open' } },
    last: { value: 'closed', context: { coins: { $actor: 'coins' } }, children: ['coins'] },
  },
  'two actors of one state start again when it is entered anew': {
    at: { 0: { context: { scans: 1 }, children: ['lamp'] }, 3: { children: [] } },
    last: { context: { scans: 4 }, children: ['lamp'] },
  },
  'a promise without a name': { last: { status: 'done', context: { thrown: 4 } } },
  'promises that actions start': {
    last: { context: { saved: ['copy of index', 'copy of a', 'copy of b'] }, children: [] },
    actions: 'announce announce',
  },
  'a shop sells through the machine of its till': {
    at: { 1: { context: { sums: [13] }, children: ['till'], actions: ['till/beep'] } },
    last: { status: 'done', output: { sums: [13, 17], total: 17 } },
    actions: 'till/beep till/beep sweep',
  },
  'a list spawns an actor for each of its items': {
    at: { 2: { children: ['a', 'b'] }, 4: { children: ['a'] }, 6: { children: [] } },
    last: {
      context: {
        items: [{ $actor: 'b' }, { $actor: 'a' }],
        log: ['edited oat milk', 'checked tea', 'edited sea salt'],
      },
    },
  },
  'a dog comes home calm, and then tired': {
    at: { 4: { value: 'waiting', context: { walks: [{ steps: 2, how: 'calm' }] } }, 9: { value: 'walking' } },
    last: {
      status: 'done',
      context: {
        walks: [
          { steps: 2, how: 'calm' },
          { steps: 101, how: 'tired' },
        ],
      },
    },
  },
  'a book is published by a machine within a machine': {
    at: { 1: { children: ['publish'] }, 7: { value: 'written', children: [], context: { editions: 1 } } },
    last: { value: 'written', context: { pages: 20, editions: 2 } },
    actions: 'publish/print/whirr publish/bind publish/print/whirr publish/print/whirr publish/bind',
  },
  'a guard reads the snapshot of a child': {
    at: { 3: { value: 'parked' } },
    last: { value: 'driving', children: ['tank'] },
  },
  'a dashboard shows each state of a child': { last: { context: { shown: [0, 6, 7] } } },
  'a printer is found by its name in the system': {
    at: { 3: { context: { jobs: 2 } }, 5: { value: 'shut', context: { jobs: 2 } } },
    last: { context: { jobs: 1 }, children: ['p1'] },
  },
  'a game decides which actions follow a score': {
    last: { context: { points: 43, level: 2 } },
    actions: 'groan groan cheer groan',
    emitted: [{ type: 'level', level: 2 }],
  },
  'a kitchen emits and logs what it serves': {
    at: { 4: { emitted: [{ type: 'served', dishes: 2 }, { type: 'bill' }] } },
    last: { context: { dishes: 2 } },
    actions: 'cook cook cook cook ring ring ring',
  },
  'an action sends an event to its own machine': {
    last: { value: 'answered', context: { order: ['raised', 'answer', 'raised', 'sent'] } },
    actions: 'answer',
  },
  'an error in an assign ends the machine': {
    at: { 1: { status: 'active', context: { result: 25 } } },
    last: { status: 'error', error: 'division by zero', context: { result: 25 } },
  },
  'a failed promise that nothing handles ends the machine': {
    at: { 0: { status: 'active' } },
    last: { status: 'error', value: 'working', error: 'the arm is broken', context: { tasks: 1 } },
  },
  'a failed child machine is replaced': {
    at: { 1: { value: 'halted', children: [] } },
    last: { value: 'running', context: { reports: ['the arm is broken', 'the arm is broken'] }, children: ['robot'] },
  },
  'an error in a guard ends the machine': {
    last: { status: 'error', context: { opened: 1 }, error: expect.stringContaining('no card') },
  },
}

describe('the shapes of machines', () => {
  beforeEach(() => {
    // XState warns about each event to an actor that has ended.
    vi.spyOn(console, 'warn').mockImplementation(() => {})
  })

  it('there are facts about each shape, and each has a name of its own', () => {
    expect(shapes.map(({ name }) => name).sort()).toEqual(Object.keys(facts).sort())
  })

  for (const shape of shapes) {
    it(`run by XState, ${shape.name}`, async () => {
      const { at = {}, last, actions, emitted } = facts[shape.name] as Facts
      const views = await runLive(shape)
      expect(views).toHaveLength(shape.script.length + 1)
      for (const [index, part] of Object.entries(at)) expect(views[Number(index)], `view ${index}`).toMatchObject(part)
      expect(await runLive(shape), 'a second run').toEqual(views)
      expect(views.at(-1)).toMatchObject(last)
      if (actions !== undefined) expect(views.flatMap((view) => view.actions).join(' ')).toBe(actions)
      if (emitted !== undefined) expect(views.flatMap((view) => view.emitted)).toEqual(emitted)
    })
  }
})

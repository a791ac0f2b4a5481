// The lifecycle of a question. It can be answered once it is published, which happens when its run has ended for it. At its due time it
// takes its default; without one it fails. It is withdrawn when its task ends.
import { setup } from 'xstate'
import { decider, edgesOf } from './decide.ts'

type QuestionEvent =
  | { type: 'publish'; published: boolean }
  | { type: 'lapse'; hasDefault: boolean }
  | { type: 'answer' | 'withdraw' }

type Given = { event: QuestionEvent }

export const questionMachine = setup({
  types: { events: {} as QuestionEvent },
  guards: {
    isUnpublished: ({ event }: Given) => event.type === 'publish' && !event.published,
    hasDefault: ({ event }: Given) => event.type === 'lapse' && event.hasDefault,
  },
  actions: { publish: () => {} },
}).createMachine({
  id: 'question',
  initial: 'pending',
  states: {
    pending: {
      on: {
        publish: { guard: 'isUnpublished', actions: 'publish' },
        answer: 'completed',
        lapse: [{ guard: 'hasDefault', target: 'completed' }, { target: 'failed' }],
        withdraw: 'failed',
      },
    },
    completed: { type: 'final' },
    failed: { type: 'final' },
  },
})

export const questionEdges = edgesOf(questionMachine)
export const decideQuestion = decider(questionMachine)

// The life of an order, as an XState machine. It knows nothing of the engine: what pays, refunds and mails is given to it.
import { assign, fromPromise, setup } from 'xstate'
import { z } from 'zod'

/** The services that an order uses. Each gets the id of the order, by which it recognizes a repeated request. */
export interface Services {
  charge(order: { id: string; total: number }): Promise<{ receipt: string }>
  refund(order: { id: string; total: number }): Promise<{ receipt: string }>
  remind(order: { mail: string }): Promise<void>
}

export interface OrderInput {
  id: string
  /** Euros. */
  total: number
  mail: string
}

type OrderEvent =
  | { type: 'PAY' }
  | { type: 'SHIPPED' }
  | { type: 'CANCEL' }
  /** What a person has answered. */
  | { type: 'DECIDED'; answer: boolean }

/** From this total on, a person approves an order, in euros. */
const largeTotal = 1_000

export const orderMachine = ({ charge, refund, remind }: Services) =>
  setup({
    types: {
      input: {} as OrderInput,
      context: {} as OrderInput & { receipt: string | null; problem: string | null },
      events: {} as OrderEvent,
      output: {} as { receipt: string | null },
    },
    actors: {
      charge: fromPromise<{ receipt: string }, OrderInput>(({ input }) => charge(input)),
      refund: fromPromise<{ receipt: string }, OrderInput>(({ input }) => refund(input)),
      remind: fromPromise<void, OrderInput>(({ input }) => remind(input)),
    },
    guards: {
      isLarge: ({ context }) => context.total >= largeTotal,
      isApproved: ({ event }) => event.type === 'DECIDED' && event.answer,
    },
    delays: { day: 86_400_000, week: 604_800_000 },
  }).createMachine({
    id: 'order',
    version: '1',
    context: ({ input }) => ({ ...input, receipt: null, problem: null }),
    initial: 'cart',
    states: {
      cart: {
        initial: 'fresh',
        states: {
          fresh: { after: { day: 'reminding' } },
          reminding: { invoke: { src: 'remind', input: ({ context }) => context, onDone: 'left', onError: 'left' } },
          left: { after: { week: '#order.canceled' } },
        },
        on: { PAY: [{ guard: 'isLarge', target: 'approving' }, { target: 'paying' }], CANCEL: 'canceled' },
      },
      approving: {
        meta: {
          ask: {
            question: ({ context }: { context: OrderInput }) => `Accept order ${context.id} of ${context.total} euros?`,
            schema: z.boolean(),
            event: 'DECIDED',
          },
        },
        on: { DECIDED: [{ guard: 'isApproved', target: 'paying' }, { target: 'canceled' }], CANCEL: 'canceled' },
      },
      paying: {
        invoke: {
          src: 'charge',
          input: ({ context }) => context,
          onDone: { target: 'packing', actions: assign({ receipt: ({ event }) => event.output.receipt }) },
          onError: { target: 'cart', actions: assign({ problem: ({ event }) => (event.error as Error).message }) },
        },
      },
      packing: { on: { SHIPPED: 'shipped', CANCEL: 'refunding' } },
      refunding: {
        invoke: {
          src: 'refund',
          input: ({ context }) => context,
          onDone: { target: 'canceled', actions: assign({ receipt: ({ event }) => event.output.receipt }) },
        },
      },
      shipped: { type: 'final' },
      canceled: { type: 'final' },
    },
    output: ({ context }) => ({ receipt: context.receipt }),
  })

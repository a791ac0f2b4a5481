// The executor of a report.
import { setTimeout as delay } from 'node:timers/promises'
import { defineExecutor } from 'errand'
import { z } from 'zod'

/** The body of POST /reports, and the input of the task. */
export const reportRequest = z.strictObject({
  title: z.string().trim().min(1).max(200),
  documents: z
    .array(z.strictObject({ name: z.string().min(1).max(200), text: z.string() }))
    .min(1)
    .max(1_000),
})

export interface ReportOptions {
  /** Counting is fast; a low rate slows it down, to watch, cancel or kill it. */
  wordsPerSecond: number
}

const statistics = z.object({ lines: z.number(), words: z.number(), characters: z.number() })

/**
 * Counts each document in its own call, so that documents that were counted before a restart are not counted again. A call that a
 * crash interrupted is repeated (`rerun`), because counting has no side effects.
 */
export const reportOf = ({ wordsPerSecond }: ReportOptions) =>
  defineExecutor({
    input: reportRequest,
    result: z.object({ documents: z.array(z.object({ name: z.string(), ...statistics.shape })), total: statistics }),
    onInterrupt: 'rerun',
    run: async ({ input: { documents } }, run) => {
      const counted = []
      const total = { lines: 0, words: 0, characters: 0 }
      for (const [index, { name, text }] of documents.entries()) {
        // The key is the index: two documents may have the same name, and the text would be stored again as a parameter.
        const count = await run.call(
          'count',
          { name },
          async (_params, { signal }) => {
            console.log(`counting ${name}`)
            return await countText(text, wordsPerSecond, signal)
          },
          {
            key: `${index}`,
          },
        )
        counted.push({ name, ...count })
        total.lines += count.lines
        total.words += count.words
        total.characters += count.characters
        await run.progress((index + 1) / documents.length, name)
      }
      return { documents: counted, total }
    },
  })

async function countText(
  text: string,
  wordsPerSecond: number,
  signal: AbortSignal,
): Promise<z.output<typeof statistics>> {
  const words = text.match(/\S+/g)?.length ?? 0
  await delay((words / wordsPerSecond) * 1_000, undefined, { signal })
  return { lines: text.split('\n').length, words, characters: text.length }
}

// An agent runs to its result with a model of each family, and after a kill goes on where it was. The long tests try all families and more kills.
import { describe, expect, it } from 'vitest'
import { isLong } from '../tier.ts'
import { chatCompletions } from './chat-completions.ts'
import { families } from './families.ts'
import { play } from './play.ts'
import { steps } from './scenario.ts'

const allSteps = Array.from({ length: steps }, (_, answers) => answers)
const names = Object.keys(families)
const kills = isLong
  ? names.flatMap((name, at) => [[name, 1 + (at % 5)] as const, [name, 6 + (at % 4)] as const])
  : [[names[0] as string, 4] as const]

describe('an agent with a model of', () => {
  it.each(isLong ? names : names.slice(0, 2))(
    '%s runs ten steps with tools, a question, memory and a message to its result',
    async (family) => {
      const { outcome, asked, refused } = await play(family)
      expect(refused).toEqual([])
      expect(outcome).toEqual({ status: 'completed', result: 'The trip is booked.' })
      expect(asked).toEqual(allSteps)
    },
  )

  it.each(kills)(
    '%s goes on after a kill before answer %i, and asks for nothing that was answered',
    async (family, killedAfter) => {
      const { outcome, asked, refused } = await play(family, killedAfter)
      expect(refused).toEqual([])
      expect(outcome).toEqual({ status: 'completed', result: 'The trip is booked.' })
      // The answer to the request at which the process died was lost.
      expect(asked).toEqual([...allSteps.slice(0, killedAfter + 1), ...allSteps.slice(killedAfter)])
    },
  )

  it('a family that wants more back than it gets refuses the step after the first tool call', async () => {
    const provider = chatCompletions({ reasoningField: 'reasoning_content', wantsReasoning: true, signs: true })
    const forgetful = {
      ...provider,
      answersIn: (body: { messages: object[] }) =>
        provider.answersIn({
          ...body,
          messages: body.messages.map((each) => ({ ...each, reasoning_content: undefined })),
        }),
    }
    const { outcome, refused } = await play('Kimi', undefined, forgetful)
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'protocol' } })
    expect(refused).toEqual(['The `reasoning_content` in the thinking mode must be passed back to the API.'])
  })
})

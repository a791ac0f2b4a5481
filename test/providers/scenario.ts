// What a model of every family does in these tests: ten steps with three tools, a question to a person and an answer. A turn depends on the number
// of answers alone, so the same server continues after a crash.

/** A turn of a model, whatever its protocol. */
export interface Turn {
  reasoning: string
  text?: string
  calls: Array<{ id: string; name: string; args: Record<string, unknown> }>
}

export const question = 'Which date?'
export const steps = 11

/** The turn after a number of answers. */
export function turnAfter(answers: number): Turn {
  const reasoning = `I think about step ${answers}.`
  const call = (name: string, args: Record<string, unknown>, nth = 0) => ({ id: `call_${answers}_${nth}`, name, args })
  if (answers >= steps - 1) return { reasoning, text: 'The trip is booked.', calls: [] }
  if (answers === 0)
    return {
      reasoning,
      text: 'I look.',
      calls: [call('trip_search', { to: 'Oslo' }), call('trip_weather', { city: 'Oslo' }, 1)],
    }
  if (answers === 3) return { reasoning, calls: [call('ask_user', { question })] }
  if (answers === 5) return { reasoning, calls: [call('trip_book', { offer: 5 })] }
  return { reasoning, calls: [call('trip_search', { to: `Oslo ${answers}` })] }
}

/** What stands between results and a message of the user is no answer of the model. */
export const isFiller = (text: unknown): boolean => text === 'I have read the results.'

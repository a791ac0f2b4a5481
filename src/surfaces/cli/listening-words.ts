// What the verbs that serve say of where they listen, and of an address that the system does not give.
import { misuse } from './arguments.ts'

/** Passes on a server that listens; what the system says of the address becomes a misuse of the options that named it. */
export async function orMisuse<S>(listening: Promise<S>): Promise<S> {
  return await listening.catch((error: unknown) => {
    throw isOfTheSystem(error)
      ? misuse(`Cannot listen there: ${error.message}. --host and --port choose another address.`)
      : error
  })
}

function isOfTheSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

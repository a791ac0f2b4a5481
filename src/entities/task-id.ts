// The ids of tasks: those that the engine makes are `task-` and letters and digits; those that a program gives when it saves a task may be any of
// `givenId`, such as a UUID.

/** The maximum length of an id. */
export const maxTaskIdLength = 128
const givenId = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

/** Whether a text may be the beginning of the id of a task. */
export const isTaskId = (text: string): boolean => givenId.test(text)

/** Whether a program may give a task this id: digits alone are the number of a task on a board. */
export const isGivenId = (text: string): boolean => givenId.test(text) && /\D/.test(text)

/** What is an id wherever it stands: one that begins with `task-`, or a UUID, in lower case. Other ids cannot be distinguished from words. */
const recognized = /\b(task-[a-z0-9_-]*[a-z0-9]|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/
const recognizedAll = /\b(?:task-[a-z0-9_-]*[a-z0-9]|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g

/** The text in turns: what is no id, a recognized id, what is none, and so on. */
export const splitAtIds = (text: string): string[] => text.split(recognized)

/** The recognized ids in a text, each once. */
export const idsInText = (text: string): Set<string> => new Set(text.match(recognizedAll))

/** The text with others for the recognized ids; `at` is the position of the id. */
export const replaceIds = (text: string, other: (id: string, at: number) => string): string =>
  text.replaceAll(recognizedAll, (id, at: number) => other(id, at))

/** Whether the text is a recognized id and nothing else. */
export const isRecognizedId = (text: string): boolean => recognized.exec(text)?.[0] === text

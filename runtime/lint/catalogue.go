package lint

import "slices"

// Rules returns all rules, by area and number. The caller may keep the list but must
// not change the rules.
func Rules() []*Rule {
	var rules []*Rule
	for _, area := range [][]Rule{
		transportRules(),
		jsonrpcRules(),
		initializeRules(),
		authRules(),
		sessionRules(),
		listRules(),
		deleteRules(),
		promptRules(),
		cancelRules(),
		cancelRequestRules(),
		permissionRules(),
		toolCallRules(),
		filesRules(),
		terminalRules(),
		elicitationRules(),
		configRules(),
		modeRules(),
		planRules(),
		contentRules(),
		commandRules(),
		extensionRules(),
		stateRules(),
		messageRules(),
		displayRules(),
		diffRules(),
		batchRules(),
		securityRules(),
		httpRules(),
	} {
		for i := range area {
			rules = append(rules, &area[i])
		}
	}
	return rules
}

// Find returns a rule by its id, nil if there is none.
func Find(id string) *Rule {
	rules := Rules()
	if i := slices.IndexFunc(rules, func(r *Rule) bool { return r.ID == id }); i >= 0 {
		return rules[i]
	}
	return nil
}
